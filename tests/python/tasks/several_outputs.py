import torch
from torch import nn


class Model(nn.Module):
    """A tuple with a dictionary in it; the second is indices."""

    def forward(self, x):
        values, places = torch.max(x, dim=1)
        return values, {"places": places, "mean": x.mean(dim=1)}


rows = 8192
columns = 4096


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
