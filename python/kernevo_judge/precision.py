"""Precisions by name, and what of a task is in them: floating-point tensors are, indices and masks
stay as they are."""

import torch

from .fault import Fault

NAMES = {
    "float32": torch.float32,
    "fp32": torch.float32,
    "float16": torch.float16,
    "fp16": torch.float16,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "bf16": torch.bfloat16,
}

# KernelBench's get_tolerance_for_precision (its revision 423217d); before its version 0.1 it was 1e-2
# for all.
TOLERANCES = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-2}


def precision_of(request):
    name = request.get("precision") or "float32"
    if name not in NAMES:
        raise Fault("task", f"no precision '{name}': float32, float16 or bfloat16")
    return NAMES[name]


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def cast(value, dtype):
    """Floating-point tensors in this type; lists of them, too."""
    if isinstance(value, torch.Tensor):
        return value.detach().to(dtype) if value.is_floating_point() else value.detach()
    if type(value) in (list, tuple):
        return type(value)(cast(one, dtype) for one in value)
    return value
