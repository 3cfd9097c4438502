"""What a module returned, as a list of tensors and the shape of the nest they were in."""

import torch

from .fault import Fault


def flatten(value):
    """The tensors of a value, in order, and its structure: "tensor", {"tuple": [...]}, {"list": [...]},
    {"dict": {key: ...}} or {"value": ...}, as JSON."""
    tensors = []

    def walk(one):
        if isinstance(one, torch.Tensor):
            tensors.append(one)
            return "tensor"
        if isinstance(one, dict):
            return {"dict": {str(key): walk(of) for key, of in one.items()}}
        if isinstance(one, (tuple, list)):
            return {"list" if isinstance(one, list) else "tuple": [walk(of) for of in one]}
        if one is None or isinstance(one, (bool, int, float, str)):
            return {"value": one}
        raise Fault(
            "contract",
            f"an output is a {type(one).__name__}: tensors, numbers, and tuples, lists and "
            "dictionaries of them can be compared",
        )

    structure = walk(value)
    return tensors, structure


def described(tensor):
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}


def plain(value):
    """A value that is no tensor, as JSON has it."""
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def bytes_of(tensors):
    return sum(one.numel() * one.element_size() for one in tensors)
