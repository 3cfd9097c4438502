import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


batch_size = 512
dim = 4096


def get_inputs():
    return [torch.rand(batch_size, dim)]


def get_init_inputs():
    return []
