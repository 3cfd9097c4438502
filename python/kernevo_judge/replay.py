"""Does again what a recording says, on other inputs: at the same addresses, in a process that has never run a line
of the candidate's."""
import ctypes
import hashlib
import json
import os
import struct
import tempfile

import torch

from . import trace as recording
from .fault import Fault
from .order import Order
from .secret import secret_of
from .trace import Memory, Trace, extent, wrong
from .virtual_gpu import ON_DEVICE, TO_DEVICE, TO_HOST, Failed, VirtualGpu

FILLING = 1 << 16          # values, over and over
MOST_FILLED = 1 << 30      # bytes of an input
# In PTX, and as torch writes types of tensors.
NARROW = (b".f16", b".bf16", b".tf32", b".e4m3", b".e5m2")
NARROW_TENSORS = ("Half", "BFloat16", "ComplexHalf", "Float8")
MODES = {"sanitize": 0, "whole": 0, "priced": 2}  # what is executed
BASE, LARGEST_WINDOW = 0x100000000000, 1 << 44
POISON = 0xFF  # a NaN in every format: nothing is read that nobody wrote
PIECE = 64 << 20
MOST_WORK = 1000


def before_confinement(request):
    """While this process may start others: settings are read once, when the virtual GPU begins."""
    mode = request.get("mode", "whole")
    if mode not in MODES:
        raise Fault("machine", f"there is no replay '{mode}'")
    request["reports"] = tempfile.mkdtemp(prefix="report-", dir=request["place"])
    prices = request.get("prices", mode != "sanitize")
    os.environ.update(KERNEVO_GPU=request.get("gpu") or "A100", KERNEVO_RUN_REPORT=request["reports"],
                      KERNEVO_BLOCK_SEED=str(seed_of_blocks(request)),
                      KERNEVO_SANITIZE="1" if mode == "sanitize" else "0",
                      KERNEVO_TIME="modelled" if prices else "wall")
    if prices:
        try:
            VirtualGpu().ask("kernevo_start_prices")
        except Failed as problem:
            raise Fault("machine", f"prices cannot be known: {problem}") from problem


def seed_of_blocks(request):
    """Which blocks stand for all of a launch follows what was recorded and the caller's secret: nobody who writes a
    kernel can know it, and the same replay costs the same each time."""
    folder = request["trace"] if os.path.isdir(request["trace"]) else os.path.dirname(request["trace"])
    digest = hashlib.sha256((secret_of(request) if "secret_file" in request else "").encode())
    for name in ("trace.jsonl", "trace.data"):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                while part := file.read(1 << 20):
                    digest.update(part)
        except OSError as problem:
            raise wrong("it is not there") from problem
    return int.from_bytes(digest.digest()[:8], "little")


def replay(request):
    """{trace, snapshot, record, inputs, place, gpu, mode, prices?, secret_file?} → {outputs, findings, report, work}.

    sanitize: each launch is looked at by the sanitizer; whole: everything runs; priced: of launches a few blocks, of
    operators nothing, so that there are no outputs. Prices are known but for sanitize, unless `prices` says otherwise.
    `work` names what was done, each kernel with its module's hash: a recording that is only priced was never held
    against an oracle, and what it does has to be what another one did that was."""
    if "reports" not in request:
        before_confinement(request)
    trace = Trace(request["trace"])
    outputs = None
    with open(trace.data_file, "rb") as data:
        run = Replay(VirtualGpu(), trace, request, data)
        try:
            run.begin()
            run.go()
            outputs = run.outputs()
            report = run.report()
        except Failed as problem:
            report = run.report()
            if not report["findings"]:
                raise Fault("raised", f"its work cannot be done on these inputs: {problem}", None,
                            report["problems"]) from problem
    return {"outputs": outputs, "findings": findings_of(report), "report": report,
            "work": list(run.work.values())[:MOST_WORK], "narrow": run.narrow}


def findings_of(report):
    found = []
    for text in report["findings"]:
        kind, _, rest = text.partition(": ")
        found.append({"kind": kind, "text": rest or text, "kernel": None})
    return found


class Replay:
    def __init__(self, gpu, trace, request, data):
        self.gpu, self.trace, self.request = gpu, trace, request
        self.priced = request.get("mode") == "priced"
        self.memory = Memory(trace.window)
        self.order = Order()
        self.host = set()        # allocations of the host's, which nothing on the GPU may use
        self.modules, self.streams, self.points = {}, {0: None}, {}
        self.hashes = {}         # of the modules' texts
        self.work = {}           # what was done how often
        self.narrow = False      # numbers of less than 32 bits are computed with
        self.looks = len(trace.streams_used()) > 1 and not self.priced
        self.schemas = {}
        self.data = data
        self.buffers = []        # of copies that wait for their turn

    # What was there before forward.

    def begin(self):
        if self.trace.window[0] != BASE or self.trace.window[1] > LARGEST_WINDOW:
            raise wrong("its memory lies elsewhere")
        self.gpu.ask("kernevo_execution", ctypes.c_int(MODES[self.request.get("mode", "whole")]))
        self.gpu.reserve(self.trace.window[1])
        before = {address for address, _, _ in self.trace.allocations}
        early = [one for one in self.trace.operations
                 if one["do"] == "module" and one["globals"] and one["globals"][0][1] in before]
        variables = {address for one in early for _, address, _ in one["globals"]}
        for address, size, kind in self.trace.allocations:
            if address not in variables:
                self.allocate(address, size, kind)
        for one in early:
            self.module(one)
        self.restore(self.request["snapshot"])
        if self.request.get("inputs"):
            self.place_inputs()
        elif self.priced:
            self.place_any_values()

    def allocate(self, address, size, kind):
        if kind == "host":
            self.host.add(address)
            return
        self.memory.allocate(address, size)
        self.gpu.allocate(address, size)

    def restore(self, path):
        """The memory's content before the inputs were known: pieces with address and length."""
        with open(path, "rb") as file:
            while True:
                head = file.read(16)
                if len(head) != 16:
                    raise wrong("its snapshot is cut off")
                address, size = struct.unpack("<QQ", head)
                if size == 0:
                    return
                found = self.memory.find(address)
                if found is None or size > found[0] + found[1] - address:
                    file.seek(size, os.SEEK_CUR)  # freed since
                    continue
                while size:
                    part = min(size, PIECE)
                    if file.readinto(memory_at(address, part)) != part:
                        raise wrong("its snapshot is cut off")
                    address, size = address + part, size - part

    def place_inputs(self):
        given = torch.load(self.request["inputs"], map_location="cpu", weights_only=True)
        places = self.request["record"]["inputs"]
        if len(given) != len(places):
            raise Fault("machine", f"{len(given)} inputs for {len(places)} places")
        for value, place in zip(given, places):
            if "address" not in place:
                continue
            there = self.tensor_at(place)
            if not isinstance(value, torch.Tensor) or value.shape != there.shape:
                raise Fault("machine", "the inputs are of another case")
            there.copy_(value)

    def place_any_values(self):
        """A kernel that leaves out what is zero must not be had for nothing. Inputs that nobody could fill stay."""
        for place in self.request["record"]["inputs"]:
            if place.get("address") is None or not str(place.get("dtype")).startswith(("float", "bfloat")):
                continue
            there = self.tensor_at(place)
            if there.numel() * there.element_size() <= MOST_FILLED:
                there.copy_(torch.randn(min(there.numel(), FILLING)).repeat(-(-there.numel() // FILLING))
                            [:there.numel()].view(there.shape))

    def tensor_at(self, place):
        """A tensor of the host over the GPU's memory."""
        dtype = getattr(torch, place["dtype"])
        shape, strides, offset = place["shape"], place["strides"], place.get("offset", 0)
        if 0 in shape:
            return torch.empty(shape, dtype=dtype)
        size = (1 + offset + sum((length - 1) * stride for length, stride in zip(shape, strides))) * dtype.itemsize
        self.memory.need(place["address"], size)
        return torch.frombuffer(memory_at(place["address"], size), dtype=dtype).as_strided(shape, strides, offset)

    # Forward.

    def go(self):
        for one in self.trace.operations:
            if one["do"] != "module" or one["module"] not in self.modules:
                getattr(self, one["do"])(one)
        self.gpu.call("cudaDeviceSynchronize")
        self.order.end()

    def used(self, one, what, reads=(), writes=()):
        self.order.operation(one["stream"], what, reads, writes)

    def handle(self, one):
        if one["stream"] not in self.streams:
            raise wrong("a stream is not known")
        return self.streams[one["stream"]]

    def stream(self, one):
        if one["stream"] == 0:
            return
        if one["stream"] in self.streams or len(self.streams) > recording.MOST_STREAMS or one["kind"] == "legacy":
            raise wrong("a stream is made twice, or there are too many")
        self.streams[one["stream"]] = self.gpu.create_stream(one["kind"])
        self.order.stream(one["stream"], one["kind"])

    def module(self, one):
        if one["module"] in self.modules:
            raise wrong("a module is loaded twice")
        texts = []
        for piece in one["texts"]:
            if piece[1] > recording.LARGEST_TEXT:
                raise wrong("a module is too long")
            texts.append(self.trace.data(piece, self.data))
        self.narrow = self.narrow or any(word in text for text in texts for word in NARROW)
        self.hashes[one["module"]] = hashlib.sha256(b"\0".join(texts)).hexdigest()
        addresses = [address for _, address, _ in one["globals"]]
        for _, address, size in one["globals"]:
            self.memory.allocate(address, size)
        try:
            self.modules[one["module"]] = self.gpu.load(texts, addresses)
        except Failed as problem:
            raise wrong(str(problem)) from problem

    def alloc(self, one):
        self.allocate(one["address"], one["bytes"], one["type"])
        if not self.priced and one["type"] != "host":
            ctypes.memset(one["address"], POISON, one["bytes"])

    def free(self, one):
        if one["address"] in self.host:
            self.host.remove(one["address"])
            return
        self.memory.free(one["address"])
        self.gpu.free(one["address"])

    def launch(self, one):
        module = self.modules.get(one["module"])
        if module is None:
            raise wrong("a kernel is of no module")
        self.done(kernel=one["kernel"], module=self.hashes[one["module"]])
        stream = self.handle(one)
        what = f"the kernel {one['kernel']}"
        if not self.looks:
            self.gpu.launch(module, one, stream)
            self.used(one, what)
            return
        # What it writes is seen; what else it was given it may have read.
        words = struct.unpack(f"<{len(one['parameters']) // 8}Q", one["parameters"][:len(one["parameters"]) // 8 * 8])
        found = self.memory.touched(words)
        self.gpu.call("cudaDeviceSynchronize")
        views = [torch.frombuffer(memory_at(start, size), dtype=torch.uint8) for start, size, _ in found]
        before = [view.clone() for view in views]
        self.gpu.launch(module, one, stream)
        self.gpu.call("cudaDeviceSynchronize")
        reads, writes = [], []
        for (_, size, number), view, old in zip(found, views, before):
            changed = (view != old).nonzero()
            if changed.numel():
                writes.append((number, int(changed[0]), int(changed[-1]) + 1))
            else:
                reads.append((number, 0, size))
        self.used(one, what, reads, writes)

    def rows(self, address, pitch, width, height):
        """The piece that so many rows are in."""
        if width == 0 or height == 0 or height > 1 and pitch < width:
            raise wrong("rows overlap, or there are none")
        return self.memory.need(address, (height - 1) * pitch + width)

    def copy(self, one):
        stream, width, height = self.handle(one), one["width"], one["height"]
        kind = one["kind"]
        reads = [self.rows(one["from"], one["from_pitch"], width, height)] if kind != "in" else []
        writes = [self.rows(one["to"], one["to_pitch"], width, height)] if kind != "out" else []
        if kind == "on":
            self.gpu.copy(one["to"], one["to_pitch"], one["from"], one["from_pitch"], width, height, ON_DEVICE, stream)
            self.used(one, "a copy", reads, writes)
            return
        buffer = Buffer(self.gpu, width * height, one["pinned"])
        if kind == "in":
            content = self.trace.data(one["data"], self.data)
            if len(content) != width * height:
                raise wrong("a copy has other bytes")
            ctypes.memmove(buffer.address, content, len(content))
            self.gpu.copy(one["to"], one["to_pitch"], buffer.address, width, width, height, TO_DEVICE, stream)
        else:
            self.gpu.copy(buffer.address, width, one["from"], one["from_pitch"], width, height, TO_HOST, stream)
        self.used(one, "a copy", reads, writes)
        if one["pinned"]:
            self.buffers.append(buffer)

    def fill(self, one):
        width = one["width"] * one["element"]
        piece = self.rows(one["to"], one["pitch"], width, one["height"])
        self.gpu.fill(one, self.handle(one))
        self.used(one, "a fill", (), [piece])

    def record(self, one):
        self.points[one["point"]] = self.gpu.record(self.handle(one))
        self.order.record(one["stream"], one["point"])

    def wait(self, one):
        if one["point"] not in self.points:
            raise wrong("a stream waits for what was never recorded")
        self.gpu.call("cudaStreamWaitEvent", self.handle(one), self.points[one["point"]], 0)
        self.order.wait(one["stream"], one["point"])

    def sync(self, one):
        if one["of"] == "point":
            if one["point"] not in self.points:
                raise wrong("the host waits for what was never recorded")
            self.gpu.call("cudaEventSynchronize", self.points[one["point"]])
        elif one["of"] == "stream":
            self.gpu.call("cudaStreamSynchronize", self.handle(one))
        else:
            self.gpu.call("cudaDeviceSynchronize")
        self.order.sync(one["of"], one["stream"], one.get("point"))

    def done(self, **what):
        self.work.setdefault(tuple(what.values()), {**what, "calls": 0})["calls"] += 1

    def operator(self, one):
        self.done(operator=one["name"])
        stream = self.handle(one)
        written = self.written_by(one["name"], len(one["arguments"]))
        words = [str(stream.value if stream else 0), one["name"], "-" if one["seed"] is None else str(one["seed"]),
                 str(len(one["arguments"]))]
        reads, writes = [], []
        for value, writes_it in zip(one["arguments"], written):
            words += self.words(value, writes if writes_it else reads)
        words.append(str(len(one["results"])))
        for value in one["results"]:
            words += self.words(value, writes)
        try:
            self.gpu.call_operator(" ".join(words))
        except Failed as problem:
            raise Fault("raised", f"{one['name']}: {problem}".split("\n", maxsplit=1)[0]) from problem
        self.used(one, f"the operator {one['name']}", reads, writes)

    def written_by(self, name, count):
        """Of an operator's arguments: which it writes to."""
        if name not in self.schemas:
            plain, _, overload = name.partition(".")
            schemas = torch._C._jit_get_schemas_for_operator(plain) if plain.startswith("aten::") else []
            self.schemas[name] = [[bool(argument.alias_info and argument.alias_info.is_write)
                                   for argument in one.arguments]
                                  for one in schemas if one.overload_name == overload]
        if not self.schemas[name] or len(self.schemas[name][0]) != count:
            raise wrong("an operator is not known, or takes other arguments")
        return self.schemas[name][0]

    def words(self, value, pieces):
        """An argument for kernevo_replay_operator; its memory is added to the pieces."""
        kind = value[0]
        if kind in ("none", "undefined"):
            return [kind]
        if kind == "value":
            return ["undefined"]
        if kind == "tensor":
            _, dtype, address, sizes, strides, flags = value
            self.narrow = self.narrow or dtype.startswith(NARROW_TENSORS)
            size = extent(value)
            room = 0
            if size:
                piece = self.memory.need(address, size)
                pieces.append(piece)
                start, whole, _ = self.memory.find(address)
                room = start + whole - address
            return ["tensor", dtype, str(address if size else 0), str(room), str(len(sizes)), *map(str, sizes),
                    *map(str, strides), str(flags)]
        if kind == "host":
            _, dtype, sizes, content, wrapped = value
            return ["host", dtype, str(len(sizes)), *map(str, sizes), "x" + content.hex(), str(wrapped)]
        if kind == "string":
            return ["string", "x" + value[1].hex()]
        if kind in ("scalars", "tensors", "optional tensors"):
            inner = [word for one in value[1] for word in self.words(one, pieces)]
            return [kind.replace(" ", "-"), str(len(value[1])), *inner]
        if kind in ("ints", "floats", "bools"):
            return [kind, str(len(value[1])), *map(str, value[1])]
        return [kind, *map(str, value[1:])]

    # What it left.

    def outputs(self):
        """The file of the results; none where the values are not all computed."""
        if self.priced:
            return None
        made = [self.tensor_at(place).clone(memory_format=torch.contiguous_format)
                for place in self.request["record"]["outputs"]]
        path = os.path.join(self.request["place"], f"outputs-{os.getpid()}.pt")
        torch.save({"tensors": made, "structure": self.request["record"].get("structure")}, path)
        return path

    def report(self):
        self.gpu.ask("kernevo_finish_prices")
        path = os.path.join(self.request["reports"], f"{os.getpid()}.json")
        try:
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError) as problem:
            raise Fault("machine", f"there is no report of the replay: {problem}") from problem


class Buffer:
    """Memory of the host for one copy, of the kind that the recording says: what copies cost depends on it."""

    def __init__(self, gpu, size, pinned):
        if pinned:
            place = ctypes.c_void_p()
            gpu.call("cudaMallocHost", ctypes.byref(place), ctypes.c_size_t(size))
            self.address = place.value
        else:
            self.memory = ctypes.create_string_buffer(size)
            self.address = ctypes.addressof(self.memory)


def memory_at(address, size):
    return (ctypes.c_char * size).from_address(address)
