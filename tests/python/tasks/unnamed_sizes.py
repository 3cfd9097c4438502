import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 7, stride=2, padding=3)
        self.pool = nn.AdaptiveAvgPool2d(1)

    def forward(self, x):
        return self.pool(torch.relu(self.conv(x))).flatten(1)


batch_size = 8
input_shape = (batch_size, 3, 224, 224)


def get_inputs():
    return [torch.rand(input_shape)]


def get_init_inputs():
    return []
