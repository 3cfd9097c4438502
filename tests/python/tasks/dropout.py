import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        return self.dropout(self.linear(x))


batch_size = 64
width = 2048
p = 0.2


def get_inputs():
    return [torch.rand(batch_size, width)]


def get_init_inputs():
    return [width, p]
