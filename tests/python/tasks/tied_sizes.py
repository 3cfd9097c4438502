import torch
from torch import nn


class Model(nn.Module):
    """Works only where the rows are as many as the columns, and reads a size of the module itself."""

    def forward(self, predictions, targets):
        return torch.clamp(1 - predictions * targets, min=0).mean() + offset


batch_size = 32768
input_shape = (32768,)
offset = 128
TOLERANCE = 1e-3


def get_inputs():
    return [torch.rand(batch_size, *input_shape), torch.randint(0, 2, (batch_size,)).float() * 2 - 1]


def get_init_inputs():
    return []
