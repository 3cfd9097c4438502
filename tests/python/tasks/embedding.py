import torch
from torch import nn


class Model(nn.Module):
    """Integer inputs, a mask, and a number."""

    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)

    def forward(self, tokens, mask, scale):
        return self.table(tokens) * mask.unsqueeze(-1) * scale


batch_size = 64
length = 512
words = 1000
width = 256


def get_inputs():
    return [torch.randint(0, words, (batch_size, length)), torch.rand(batch_size, length) > 0.5, 3]


def get_init_inputs():
    return [words, width]
