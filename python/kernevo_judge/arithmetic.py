"""Imitations of arithmetic that a precision does not allow, to find a tolerance that tells it from an
honest result."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten

# Where the operands of a product are among the arguments.
PRODUCTS = {
    aten.mm: (0, 1),
    aten.bmm: (0, 1),
    aten.mv: (0, 1),
    aten.dot: (0, 1),
    aten.addmm: (1, 2),
    aten.baddbmm: (1, 2),
    aten.addmv: (1, 2),
    aten.convolution: (0, 1),
    aten._scaled_dot_product_flash_attention_for_cpu: (0, 1, 2),
}
CHUNKS = 64


def to_tf32(tensor):
    """Ten bits of mantissa, rounded to nearest."""
    bits = tensor.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


class TensorFloat(TorchDispatchMode):
    """Products of float32 with their operands rounded as tensor cores do by default."""

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        places = PRODUCTS.get(operator.overloadpacket, ())
        args = [
            to_tf32(one) if at in places and one.dtype == torch.float32 else one
            for at, one in enumerate(args)
        ]
        return operator(*args, **(kwargs or {}))


class ShortSums(TorchDispatchMode):
    """Products of sixteen-bit numbers whose running sum is kept in sixteen bits, too."""

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        packet, kwargs = operator.overloadpacket, kwargs or {}
        places = PRODUCTS.get(packet, ())
        if not places or args[places[0]].dtype not in (torch.float16, torch.bfloat16):
            return operator(*args, **kwargs)
        if packet in (aten.mm, aten.bmm):
            return summed(args[0], args[1], torch.matmul, -1, -2)
        if packet in (aten.addmm, aten.baddbmm):
            product = summed(args[1], args[2], torch.matmul, -1, -2)
            return kwargs.get("beta", 1) * args[0] + kwargs.get("alpha", 1) * product
        if packet is aten.convolution and args[8] == 1:
            images, weights, bias, transposed = args[0], args[1], args[2], args[6]
            total = summed(
                images,
                weights,
                lambda x, w: aten.convolution(x, w, None, *args[3:]),
                1,
                0 if transposed else 1,
            )
            return total if bias is None else total + bias.reshape(-1, *[1] * (total.dim() - 2))
        return operator(*args, **kwargs)


def summed(left, right, product, left_dimension, right_dimension):
    length = left.shape[left_dimension]
    step = max(-(-length // CHUNKS), min(8, length))
    total = None
    for x, w in zip(left.split(step, left_dimension), right.split(step, right_dimension)):
        part = product(x.float(), w.float())
        total = part.to(left.dtype) if total is None else (total.float() + part).to(left.dtype)
    return total


def forbidden(precision, allow_tf32):
    """The arithmetic a program of this precision must not use: its name and how to imitate it."""
    if precision == torch.float32:
        return None if allow_tf32 else ("TF32", TensorFloat)
    return ("sums in sixteen bits", ShortSums) if precision == torch.float16 else None
