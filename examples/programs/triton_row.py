"""One Triton block a row: the row is read once and stays in registers."""
import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def rms_norm(x, weight, out, features, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < features
    value = tl.load(x + row * features + column, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(value * value) / features + epsilon)
    tl.store(out + row * features + column, value * scale * tl.load(weight + column, mask=inside), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features, epsilon=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features) + 0.1 * torch.randn(features))
        self.epsilon = epsilon

    def forward(self, x):
        out = torch.empty_like(x)
        rms_norm[(x.shape[0],)](x, self.weight, out, x.shape[1], self.epsilon,
                                BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=8)
        return out
