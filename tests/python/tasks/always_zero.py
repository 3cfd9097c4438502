import torch
from torch import nn


class Model(nn.Module):
    """A task that cannot tell a program from one that computes nothing."""

    def forward(self, x):
        top = x.max(dim=1, keepdim=True).values
        return top - top.mean(dim=1, keepdim=True)


rows = 1024
columns = 1024


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return []
