"""What a candidate's process wrote down of one forward. The process is hostile and so may every line be: what is
not exactly of the known form, or reaches beyond memory that is there, ends as a Fault."""
import bisect
import json
import os

from .fault import Fault

PAGE = 4096
LARGEST_FILE = 1 << 30       # bytes of trace.jsonl
LARGEST_LINE = 8 << 20
MOST_OPERATIONS = 2_000_000
MOST_STREAMS = 64
MOST_WORDS = 16_384          # of one operator
LARGEST_TEXT = 256 << 20     # of one module's PTX

BYTES_OF = {"Byte": 1, "Char": 1, "Short": 2, "Int": 4, "Long": 8, "Half": 2, "Float": 4, "Double": 8,
            "ComplexHalf": 4, "ComplexFloat": 8, "ComplexDouble": 16, "Bool": 1, "BFloat16": 2, "Float8_e5m2": 1,
            "Float8_e4m3fn": 1, "UInt16": 2, "UInt32": 4, "UInt64": 8}


def wrong(what):
    return Fault("contract", f"its recording cannot be used: {what}")


def count(value, most=(1 << 64) - 1):
    if type(value) is not int or not 0 <= value <= most:
        raise wrong("a number is none, or too large")
    return value


def integer(value):
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise wrong("a number is none, or too large")
    return value


def text(value, most=4096):
    if not isinstance(value, str) or len(value) > most or not value.isascii():
        raise wrong("a name is none")
    return value


def listed(value, most=MOST_WORDS):
    if not isinstance(value, list) or len(value) > most:
        raise wrong("a list is none, or too long")
    return value


def flag(value):
    if not isinstance(value, bool):
        raise wrong("a truth is none")
    return value


def hexadecimal(value, most):
    try:
        return bytes.fromhex(text(value, 2 * most))
    except ValueError as problem:
        raise wrong("bytes are none") from problem


def triple(value, most=(1 << 31) - 1):
    if len(listed(value, 3)) != 3:
        raise wrong("an extent has three numbers")
    return tuple(count(one, most) for one in value)


class Memory:
    """What is allocated while the lines go by. Each allocation has a number of its own: another one at the same
    address is another."""

    def __init__(self, window):
        self.base, self.end = window[0], window[0] + window[1]
        self.starts, self.known = [], {}
        self.made = 0

    def allocate(self, address, size):
        place = bisect.bisect_left(self.starts, address)
        after = self.starts[place] if place < len(self.starts) else self.end
        before = self.starts[place - 1] if place else self.base
        if address % PAGE or size == 0 or not self.base < address < address + size <= min(after, self.end) or \
                place and before + self.known[before][0] > address:
            raise wrong("memory is allocated where it cannot be")
        self.starts.insert(place, address)
        self.made += 1
        self.known[address] = (size, self.made)
        return self.made

    def free(self, address):
        if address not in self.known:
            raise wrong("memory is freed that is not there")
        del self.known[address]
        self.starts.pop(bisect.bisect_left(self.starts, address))

    def find(self, address):
        """(start, bytes, number) of the allocation that holds the address, or None."""
        place = bisect.bisect_right(self.starts, address)
        if place == 0:
            return None
        start = self.starts[place - 1]
        size, number = self.known[start]
        return (start, size, number) if address < start + size else None

    def need(self, address, size):
        """The piece (number, first, last) of what must be there."""
        found = self.find(address)
        if found is None or size > found[0] + found[1] - address:
            raise wrong("memory is used that is not there")
        return found[2], address - found[0], address - found[0] + size

    def touched(self, words):
        """Of values that may be addresses: the allocations they point into."""
        found = {}
        for word in words:
            if self.base <= word < self.end and (one := self.find(word)):
                found[one[2]] = one
        return list(found.values())


class Trace:
    """The lines of a recording, checked one by one as they are gone through."""

    def __init__(self, place):
        folder = place if os.path.isdir(place) else os.path.dirname(place)
        self.lines_file = os.path.join(folder, "trace.jsonl")
        self.data_file = os.path.join(folder, "trace.data")
        try:
            if os.path.getsize(self.lines_file) > LARGEST_FILE:
                raise wrong("it is too long")
            self.data_bytes = os.path.getsize(self.data_file)
        except OSError as problem:
            raise wrong("it is not there") from problem
        self.operations = list(self._parsed())
        if not self.operations or self.operations[0]["do"] != "begin" or self.operations[-1]["do"] != "end":
            raise wrong("it has no beginning or no end")
        begin = self.operations.pop(0)
        self.operations.pop()
        if any(one["do"] in ("begin", "end") for one in self.operations):
            raise wrong("it begins or ends twice")
        self.window, self.gpu, self.allocations = begin["window"], begin["gpu"], begin["allocations"]
        for one in self.operations:
            if one["do"] == "refused":
                raise Fault("unsupported", f"what forward does cannot be recorded: {one['what']}")

    def _parsed(self):
        with open(self.lines_file, "rb") as file:
            number = 0
            while line := file.readline(LARGEST_LINE + 1):
                number += 1
                if len(line) > LARGEST_LINE or number > MOST_OPERATIONS:
                    raise wrong("it is too long")
                yield self._operation(line)

    def _operation(self, line):
        try:
            one = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise wrong("a line is no JSON") from problem
        form = form_of(one) if isinstance(one, dict) else None
        if form is None or one.keys() != form.keys() | {"do"}:
            raise wrong("a line is of no known kind")
        return {"do": one["do"], **{key: read(one[key]) for key, read in form.items()}}

    def data(self, piece, file):
        """Bytes of trace.data."""
        start, size = piece
        if start > self.data_bytes or size > self.data_bytes - start:
            raise wrong("bytes are missing")
        file.seek(start)
        return file.read(size)

    def streams_used(self):
        return {one["stream"] for one in self.operations if one["do"] in ("launch", "copy", "fill", "operator")}


def piece_of(value):
    if len(listed(value, 2)) != 2:
        raise wrong("a piece of data is none")
    return count(value[0], 1 << 48), count(value[1], 1 << 48)


def allocation(value):
    if len(listed(value, 3)) != 3 or value[2] not in ("device", "host", "managed"):
        raise wrong("an allocation is none")
    return count(value[0]), count(value[1]), value[2]


def variable(value):
    if len(listed(value, 3)) != 3:
        raise wrong("a variable is none")
    return text(value[0]), count(value[1]), count(value[2])


def list_of(read, most=1 << 20):
    return lambda value: [read(one) for one in listed(value, most)]


def one_of(*values):
    def read(value):
        if value not in values or isinstance(value, bool):
            raise wrong("a word is none")
        return value
    return read


def seed_of(value):
    return None if value is None else count(value)


def tensor_of(value):
    _, kind, address, sizes, strides, flags = value
    if not isinstance(kind, str) or kind not in BYTES_OF:
        raise wrong("a tensor is of no known type")
    sizes, strides = ([count(one, 1 << 48) for one in listed(of, 64)] for of in (sizes, strides))
    if len(sizes) != len(strides):
        raise wrong("a tensor has other strides than sizes")
    return ("tensor", kind, count(address), tuple(sizes), tuple(strides), count(flags, 3))


def extent(tensor):
    """Bytes from the first element to the end of the last."""
    _, kind, _, sizes, strides, _ = tensor
    if 0 in sizes:
        return 0
    return (1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))) * BYTES_OF[kind]


def host_of(value):
    _, kind, sizes, content, wrapped = value
    if not isinstance(kind, str) or kind not in BYTES_OF:
        raise wrong("a tensor is of no known type")
    sizes = tuple(count(one, 1 << 24) for one in listed(sizes, 64))
    elements = 1
    for size in sizes:
        elements *= size
    content = hexadecimal(content, 2 << 20)
    if len(content) != elements * BYTES_OF[kind]:
        raise wrong("a tensor of the host has other bytes")
    return ("host", kind, sizes, content, count(wrapped, 1))


def nested(value):
    return [argument(one) for one in value[1:]]


ARGUMENTS = {  # what stands behind the word, and how it is read
    "none": (0, lambda v: ("none",)),
    "undefined": (0, lambda v: ("undefined",)),
    "value": (0, lambda v: ("value",)),
    "given": (1, lambda v: ("given", count(v[1], MOST_WORDS))),
    "int": (1, lambda v: ("int", integer(v[1]))),
    "float": (1, lambda v: ("float", count(v[1]))),
    "bool": (1, lambda v: ("bool", count(v[1], 1))),
    "complex": (2, lambda v: ("complex", count(v[1]), count(v[2]))),
    "string": (1, lambda v: ("string", hexadecimal(v[1], 4096))),
    "device": (1, lambda v: ("device", one_of("cuda", "cpu")(v[1]))),
    "tensor": (5, tensor_of),
    "host": (4, host_of),
    "ints": (None, lambda v: ("ints", [integer(one) for one in v[1:]])),
    "floats": (None, lambda v: ("floats", [count(one) for one in v[1:]])),
    "bools": (None, lambda v: ("bools", [count(one, 1) for one in v[1:]])),
    "scalars": (None, lambda v: ("scalars", nested(v))),
    "tensors": (None, lambda v: ("tensors", nested(v))),
    "optional tensors": (None, lambda v: ("optional tensors", nested(v))),
}
INside = {"scalars": ("int", "float", "bool", "complex"), "tensors": ("tensor", "host", "undefined", "given", "value"),
          "optional tensors": ("tensor", "host", "undefined", "none")}


def argument(value, depth=0):
    """An argument or a result of an operator as a tuple whose first word says what it is."""
    listed(value)
    form = ARGUMENTS.get(value[0]) if value and isinstance(value[0], str) else None
    if form is None or form[0] is not None and len(value) != form[0] + 1:
        raise wrong("an argument of an operator is of no known kind")
    if value[0] in INside and any(not isinstance(one, list) or not one or one[0] not in INside[value[0]]
                                  for one in value[1:]):
        raise wrong("a list of an operator holds what it cannot")
    return form[1](value)


def tensors_in(values):
    """Those on the GPU."""
    for one in values:
        if one[0] == "tensor":
            yield one
        elif one[0] in ("tensors", "optional tensors"):
            yield from tensors_in(one[1])


def side(value):
    return count(value, 1 << 48)


STREAM = {"stream": lambda value: count(value, 1 << 32)}
PLACE = {"address": count, "bytes": lambda value: count(value, 1 << 48)}
EXTENT = {"kind": one_of("in", "out", "on"), "width": side, "height": side}

FORMS = {
    "begin": {"version": one_of(1), "window": piece_of, "gpu": text, "allocations": list_of(allocation)},
    "end": {"read_back": count},
    "refused": {**STREAM, "what": lambda value: text(value)[:200]},
    "stream": {**STREAM, "kind": one_of("legacy", "blocking", "free")},
    "alloc": {**STREAM, **PLACE, "type": one_of("device", "host", "managed")},
    "free": {**STREAM, "address": count},
    "module": {**STREAM, "module": count, "texts": list_of(piece_of, 1024), "globals": list_of(variable, 65536)},
    "launch": {**STREAM, "module": count, "kernel": text, "grid": triple, "block": triple, "shared": side,
               "cluster": triple, "cooperative": flag, "parameters": lambda value: hexadecimal(value, 32764)},
    "fill": {**STREAM, "to": count, "pitch": side, "value": lambda value: count(value, (1 << 32) - 1),
             "element": one_of(1, 2, 4), "width": side, "height": side},
    "record": {**STREAM, "point": count},
    "wait": {**STREAM, "point": count},
    "operator": {**STREAM, "name": lambda value: text(value, 200), "seed": seed_of,
                 "arguments": list_of(argument, 256), "results": list_of(argument, 256)},
}
COPIES = {
    "in": {"to": count, "to_pitch": side, "data": piece_of, "pinned": flag},
    "out": {"from": count, "from_pitch": side, "pinned": flag},
    "on": {"to": count, "to_pitch": side, "from": count, "from_pitch": side},
}
SYNCS = {"all": {}, "stream": {}, "point": {"point": count}}


def form_of(line):
    """The keys that such a line has, and how each is read."""
    kind = line.get("do")
    if kind == "copy" and isinstance(line.get("kind"), str) and line["kind"] in COPIES:
        return {**STREAM, **EXTENT, **COPIES[line["kind"]]}
    if kind == "sync" and isinstance(line.get("of"), str) and line["of"] in SYNCS:
        return {**STREAM, "of": text, **SYNCS[line["of"]]}
    return FORMS.get(kind) if isinstance(kind, str) else None
