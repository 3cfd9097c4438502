"""A candidate's own process: the program is run on decoys, and what one call of it asks of the GPU is written
down. Nothing said here is trusted: the judged inputs, what is expected and a clock are elsewhere."""
import contextlib
import ctypes
import os
import random
import sys

import torch

from . import cage
from .fault import Fault
from .precision import precision_of
from .program import Program
from .structure import described, flatten

SNAPSHOT, TRACE = "snapshot", "trace"
# Who names none of these asks for no times: what knows prices, a tenth of a second to start, is not started.
CLOCKS = (b"autotune", b"do_bench", b"elapsed_time", b"torch.compile", b"benchmark")
EXECUTION = {"all": 0, "none": 1}
ASSIGNED = (torch.Tensor, torch.nn.Parameter)  # before anybody can call something else so


class Opened:
    """What is read before the doors close: the program's text and the files made for it."""

    def __init__(self, request):
        self.program = Program(request["program"])
        self.dtype = precision_of(request)
        try:
            self.init = torch.load(request["init"], weights_only=True)
            self.decoys = torch.load(request["decoy"], weights_only=True)
        except (OSError, RuntimeError, ValueError) as problem:
            raise Fault("machine", f"the files made for the candidate cannot be read: {problem}") from problem


class Gpu:
    """Entry points of the virtual GPU, held where no program's patches come."""

    def __init__(self):
        self.reserve = cage.entry("kernevo_reserve_window", ctypes.c_uint64)
        self.execution = cage.entry("kernevo_execution", ctypes.c_int)
        self.record = cage.entry("kernevo_record", ctypes.c_char_p)
        self.snapshot = cage.entry("kernevo_snapshot", ctypes.c_char_p)
        self.read_back = cage.entry("kernevo_read_back_bytes", result=ctypes.c_uint64)
        self.synchronize = torch.cuda.synchronize

        self.last_words = cage.entry("kernevo_last_words", result=ctypes.c_char_p)

    def must(self, what, code):
        if code != 0:
            why = self.last_words().decode("utf-8", "replace")
            raise Fault("machine", f"the virtual GPU cannot {what}: {why}")


def before_confinement(request):
    """In the child, while it may still start processes and open files."""
    opened = Opened(request)
    os.environ["KERNEVO_GPU"] = request.get("gpu", "A100")
    if opened.program.mentions(CLOCKS):
        with contextlib.suppress(Fault):
            cage.entry("kernevo_start_prices")()
    return opened


def record(request, opened, tell):
    """What was asked of the GPU in one call. `tell` gives the stage where the inputs are before the program
    has begun: what it says later is the program's word."""
    gpu = Gpu()
    gpu.must("reserve its addresses", gpu.reserve(cage.WINDOW))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = bool(request.get("allow_tf32"))
    first, second = opened.decoys
    handed, warming = placed(second, opened.dtype), placed(first, opened.dtype)
    gpu.synchronize()
    tell({"inputs": [where(one) if isinstance(one, torch.Tensor) else {"value": one} for one in handed]})

    program, grad = opened.program, torch.no_grad
    notes = program.notes()
    with program.blamed():
        model = constructed(program, request, opened)
        gpu.must("stop executing", gpu.execution(EXECUTION[request.get("execute", "all")]))
        fill(warming, first)
        with grad():
            for _ in range(int(request.get("warm_ups", 1))):
                warm_up(model, warming, gpu)
    gpu.must("keep its memory", gpu.snapshot(os.fsencode(os.path.join(request["folder"], SNAPSHOT))))
    fill(handed, second)
    gpu.synchronize()
    trace = os.path.join(request["folder"], TRACE)
    os.makedirs(trace, exist_ok=True)
    gpu.must("record", gpu.record(os.fsencode(trace)))
    with program.blamed(), grad():
        result = model(*handed)
    # A synchronization before the end would order what the program has not.
    gpu.must("end the record", gpu.record(None))
    gpu.synchronize()
    outputs, structure = checked(result)
    return {"outputs": outputs, "structure": structure, "reads_back": gpu.read_back() > 0, "notes": notes}


def placed(inputs, dtype):
    """Memory of the GPU for each tensor, in the given order."""
    buffers = []
    for one in inputs:
        if isinstance(one, torch.Tensor):
            kept = dtype if one.is_floating_point() else one.dtype
            one = torch.empty(one.shape, dtype=kept, device="cuda")
        buffers.append(one)
    return buffers


def fill(buffers, values):
    for buffer, value in zip(buffers, values):
        if isinstance(buffer, torch.Tensor) and not value.is_meta:
            buffer.copy_(value)


def constructed(program, request, opened):
    module = program.run()
    made = getattr(module, request["class"], None)
    if not isinstance(made, type):
        raise Fault("contract", f"{program.name} has no class {request['class']}", f"{program.name}:1")
    seed(request["seed"])
    model = made(*map(with_values, opened.init["arguments"]))
    if not isinstance(model, torch.nn.Module):
        raise Fault("contract", f"{request['class']} is no torch.nn.Module",
                    program.line_of_class(request["class"]))
    model = model.to(device="cuda", dtype=opened.dtype)
    return model.train((request.get("mode") or opened.init["mode"]) == "train")


def with_values(argument):
    """Where only shapes are known, any values do."""
    if isinstance(argument, torch.Tensor) and argument.is_meta:
        return torch.zeros(argument.shape, dtype=argument.dtype)
    return argument


def seed(number):
    torch.manual_seed(number)
    torch.cuda.manual_seed(number)
    random.seed(number)


def warm_up(model, inputs, gpu):
    """Twice where kernels were tuned: what was chosen then runs as it will from now on."""
    from kernevo_virtual import benchmark

    tuned = benchmark.running
    model(*inputs)
    gpu.synchronize()
    if benchmark.running != tuned:
        model(*inputs)
        gpu.synchronize()


def checked(result):
    tensors, structure = flatten(result)
    if not tensors:
        raise Fault("contract", "forward returns no tensor")
    return [where(one, output=True) for one in tensors], structure


def where(tensor, output=False):
    """A tensor as bytes of the GPU. An output's storage may be larger than what is returned of it."""
    if type(tensor) not in ASSIGNED:
        raise Fault("contract", f"an output is a {type(tensor).__name__}, not a torch.Tensor itself")
    if tensor.device.type != "cuda":
        raise Fault("host", f"an output is on '{tensor.device.type}': results are made on the GPU")
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise Fault("contract", "an output is no plain strided tensor")
    if tensor.is_conj() or tensor.is_neg():
        raise Fault("unsupported", "an output is a conjugate or negative view: resolve_conj(), resolve_neg()")
    storage = tensor.untyped_storage()
    about = {"address": storage.data_ptr(), "bytes": storage.nbytes(), **described(tensor),
             "strides": list(tensor.stride())}
    return {**about, "offset": tensor.storage_offset()} if output else about


def flush():
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    with contextlib.suppress(Exception):
        sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)
