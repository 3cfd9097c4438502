"""Inputs a task did not think of: the same get_inputs, fed from other random numbers.

The task's own code still makes masks, triangles, distributions and indices of them, so those stay what
they must be.
"""

import torch
from torch.overrides import TorchFunctionMode

UNIFORM = {torch.rand, torch.rand_like, torch.Tensor.uniform_}
NORMAL = {torch.randn, torch.randn_like, torch.Tensor.normal_, torch.normal}

NAMES = ("nominal", "signed", "wide", "ragged")

# For each variant the ways to make it, the most demanding first: the first that the reference itself
# survives is used.
WIDTHS = {torch.float32: (30.0, 4.0), torch.bfloat16: (30.0, 4.0), torch.float16: (8.0, 3.0)}


def signed(drawn, uniform):
    return torch.randn_like(drawn) if uniform else drawn


def widened(by):
    return lambda drawn, uniform: torch.randn_like(drawn) * by


def ragged(with_zeros):
    """Rows of zeros, rows of one value, and the others moved away from zero."""

    def change(drawn, uniform):
        rows = (drawn + 3).reshape(-1, drawn.shape[-1]) if drawn.dim() > 1 else (drawn + 3).reshape(-1, 1)
        rows[1::5] = 1.5
        rows[0::5] = 0.0 if with_zeros else 2.5
        return rows.reshape(drawn.shape)

    return change


def ways(name, precision):
    return {
        "nominal": [None],
        "signed": [signed],
        "wide": [widened(by) for by in WIDTHS[precision]],
        "ragged": [ragged(True), ragged(False)],
    }[name]


class Source(TorchFunctionMode):
    """Changes what random floating-point tensors hold as they are drawn. Single numbers are left
    alone: they scale."""

    def __init__(self, change):
        super().__init__()
        self.change, self.changed, self.any_uniform = change, 0, False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        drawn = function(*args, **(kwargs or {}))
        if function not in UNIFORM and function not in NORMAL or not isinstance(drawn, torch.Tensor):
            return drawn
        if drawn.numel() < 2 or not drawn.is_floating_point():
            return drawn
        self.changed += 1
        self.any_uniform = self.any_uniform or function in UNIFORM
        if self.change is None:
            return drawn
        other = self.change(drawn, function in UNIFORM)
        return drawn.copy_(other) if function in (torch.Tensor.uniform_, torch.Tensor.normal_) else other
