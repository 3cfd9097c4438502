"""What a candidate's process says of its outputs is its word: here it is looked at before anybody uses it."""
import os
import stat

from . import cage
from .candidate import SNAPSHOT, TRACE
from .fault import Fault

BASE = 0x100000000000  # where the window of device memory begins
ITEM = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int16": 2, "int8": 1,
        "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1, "complex64": 8, "complex128": 16,
        "float8_e4m3fn": 1, "float8_e5m2": 1}
FILES = (f"{TRACE}/trace.jsonl", f"{TRACE}/trace.data", SNAPSHOT)
MOST_OUTPUTS = 256
DEEPEST = 8
LARGEST_TRACE = 256 << 20


class Refused(Exception):
    """A reply that no honest child gives."""


def checked(messages, folder, printed):
    """The reply of a record, from what the child told before and after its program ran."""
    try:
        first, last = messages[0], messages[-1]["reply"]
        outputs = [output_of(one) for one in listed(last["outputs"], MOST_OUTPUTS)]
        if structure_of(last["structure"], 0) != len(outputs):
            raise Refused("its structure has another number of tensors")
        notes = [str(one)[:200] for one in listed(last["notes"], 20)]
        trace, _, snapshot = (regular(folder, path) for path in FILES)
        launches, operators = counted(trace)
        return {"trace": os.path.dirname(trace), "snapshot": snapshot, "inputs": first["inputs"], "outputs": outputs,
                "structure": last["structure"], "reads_back": bool(last["reads_back"]), "launches": launches,
                "operators": operators, "printed": printed, "notes": notes}
    except Fault:
        raise
    except Exception as problem:  # pylint: disable=broad-except # whatever shape it has
        raise Fault("died", f"its process gave no answer that one can use: {str(problem)[:200]}") from problem


def listed(value, most):
    if not isinstance(value, list) or len(value) > most:
        raise Refused("no list, or too long a one")
    return value


def count(value):
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise Refused("a number is no count")
    return value


def output_of(one):
    item = ITEM.get(one["dtype"])
    if item is None:
        raise Refused("no such type")
    address, size, offset = count(one["address"]), count(one["bytes"]), count(one["offset"])
    shape, strides = ([count(part) for part in listed(one[key], 64)] for key in ("shape", "strides"))
    if len(shape) != len(strides):
        raise Refused("strides of another rank")
    if 0 not in shape:
        last = offset + sum((length - 1) * stride for length, stride in zip(shape, strides))
        if (last + 1) * item > size:
            raise Refused("an output is larger than its memory")
        if not BASE <= address <= address + size <= BASE + cage.WINDOW:
            raise Fault("host", "an output is not in the GPU's memory: results are made on the GPU")
    return {"address": address, "bytes": size, "shape": shape, "dtype": one["dtype"], "strides": strides,
            "offset": offset}


def structure_of(value, depth):
    """The number of tensors in a structure."""
    if depth > DEEPEST:
        raise Refused("its structure is too deep")
    if value == "tensor":
        return 1
    kind, of = next(iter(value.items()))
    if len(value) != 1 or kind not in ("tuple", "list", "dict", "value"):
        raise Refused("no structure")
    if kind == "value":
        if not (of is None or isinstance(of, (bool, int, float)) or isinstance(of, str) and len(of) < 200):
            raise Refused("no plain value")
        return 0
    if kind == "dict" and any(len(name) > 200 for name in of):
        raise Refused("no plain names")
    parts = list(of.values()) if kind == "dict" else of
    return sum(structure_of(one, depth + 1) for one in listed(parts, MOST_OUTPUTS))


def regular(folder, name):
    path = os.path.join(folder, name)
    try:
        mode = os.lstat(path).st_mode
    except OSError as problem:
        raise Refused(f"no {name}") from problem
    if not stat.S_ISREG(mode):
        raise Refused(f"{name} is no file")
    return path


def counted(trace):
    """Launches of kernels and operators of torch."""
    if os.path.getsize(trace) > LARGEST_TRACE:
        raise Refused("its trace is too long")
    launches = operators = 0
    with open(trace, "rb") as file:
        for line in file:
            kind = line[:64]
            launches += b'"launch"' in kind
            operators += b'"operator"' in kind
    return launches, operators
