"""What a task's module is at some sizes: shapes, bytes, work, found on the meta device where no
element exists."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from .fault import Fault
from .precision import cast
from .recurrent import Recurrent
from .structure import bytes_of, described, flatten, plain

# torch loads what it knows of the meta device when that is first used, which takes seconds: not in
# every child.
torch.nn.functional.gelu(torch.rand(1, 1, device="meta") @ torch.rand(1, 1, device="meta"))


# What is normalized, and over how many elements each, by the operators' arguments.
BATCH_NORMS = {torch.ops.aten.native_batch_norm, torch.ops.aten._native_batch_norm_legit}


class Meter(TorchDispatchMode):
    """Counts what operators do, and notices random numbers and statistics of few elements."""

    def __init__(self):
        super().__init__()
        self.flops, self.elements, self.largest, self.longest, self.random = 0, 0, 0, 1, None
        self.thinnest = 1 << 62

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        norm = operator.overloadpacket in BATCH_NORMS
        result = normalized(args) if norm and args[0].is_meta else operator(*args, **kwargs)
        if torch.Tag.nondeterministic_seeded in operator.tags:
            self.random = self.random or str(operator.overloadpacket).removeprefix("aten.").rstrip("_")
        formula = flop_registry.get(operator.overloadpacket)
        if formula is not None:
            flops = formula(*args, **kwargs, out_val=result)
            self.flops += flops
            count = result.numel() if isinstance(result, torch.Tensor) else 0
            self.longest = max(self.longest, flops // 2 // count if count else 1)
        if norm and any(one is True for one in args[3:7]):
            self.thinnest = min(self.thinnest, args[0].numel() // max(1, args[0].shape[1]))
        if not is_view(operator):
            for one in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(one, torch.Tensor):
                    self.elements += one.numel()
                    self.largest = max(self.largest, one.numel())
        return result


def normalized(args):
    """torch's own answer takes milliseconds, and deep networks are full of these."""
    images, weight = args[:2]
    if weight is not None and weight.numel() != images.shape[1]:
        raise RuntimeError(f"{weight.numel()} weights for {images.shape[1]} channels")
    return torch.empty_like(images), images.new_empty(0), images.new_empty(0)


def is_view(operator):
    return any(one.alias_info is not None and not one.alias_info.is_write for one in
    operator._schema.returns)


class Footprint:
    """Inputs, outputs and work of one forward. `seconds` is what a virtual GPU on a core may take."""

    def __init__(self, inputs, outputs, weights, meter):
        tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
        self.inputs = [
            described(one) if isinstance(one, torch.Tensor) else {"value": plain(one)} for one in inputs
        ]
        self.outputs = [described(one) for one in outputs]
        self.input_bytes, self.weight_bytes, self.output_bytes = (
            bytes_of(tensors),
            bytes_of(weights),
            bytes_of(outputs),
        )
        count = sum(one.numel() for one in tensors) + sum(one.numel() for one in outputs)
        self.products = meter.flops // 2
        self.elements = meter.elements + count
        self.flops = meter.flops + meter.elements
        self.longest, self.thinnest, self.random = meter.longest, meter.thinnest, meter.random
        # The oracle holds all of it in float64, and the module in the task's precision beside it.
        self.memory = 16 * (count + sum(one.numel() for one in weights) + 2 * meter.largest)

    @property
    def seconds(self):
        return self.products / 1e9 + self.elements / 1.5e8

    def record(self):
        return {
            "inputs": self.inputs,
            "outputs": self.outputs,
            "input_bytes": self.input_bytes,
            "weight_bytes": self.weight_bytes,
            "output_bytes": self.output_bytes,
            "flops": self.flops,
        }


class Surveyor:
    """Takes footprints of one task. A module that cannot be made on the meta device is made on the
    host and moved."""

    def __init__(self, task_file, precision, device="meta"):
        self.task_file, self.precision, self.device = task_file, precision, device
        self.models, self.modules, self.taken = {}, {}, {}

    def module(self, sizes):
        key = repr(sorted(sizes.items()))
        if key not in self.modules:
            self.modules[key] = self.task_file.load(sizes)
        return self.modules[key]

    def model(self, module, train=True, dtype=None):
        with torch.device("meta"):
            arguments = init_arguments(self.task_file, module)
        dtype = dtype or self.precision
        key = (repr(arguments), train, dtype, self.device)
        if key not in self.models:
            arguments = cast(arguments, dtype)
            with self.task_file.blamed("has a Model that cannot be made"), torch.no_grad():
                try:
                    with torch.device(self.device):
                        made = module.Model(*arguments)
                except Exception:
                    if self.device == "cpu":
                        raise
                    made = module.Model(*init_arguments(self.task_file, module)).to("meta")
                check_module(made, self.task_file)
                self.models[key] = made.to(dtype).train(train)
        return self.models[key]

    def take(self, sizes, train=True, dtype=None):
        """Faults with kind task where the module does not work at these sizes."""
        key = repr(sorted(sizes.items())), train, dtype
        if key not in self.taken:
            self.taken[key] = self.footprint(sizes, train, dtype)
        return self.taken[key]

    def footprint(self, sizes, train, dtype):
        module = self.module(sizes)
        model = self.model(module, train, dtype)
        inputs = input_values(self.task_file, module, dtype or self.precision, self.device)
        meter = Meter()
        with self.task_file.blamed("has a Model whose forward fails"), torch.no_grad(), torch.device(
            self.device
        ), Recurrent(meter), meter:
            result = model(*inputs)
        outputs, _ = flatten(result)
        weights = [*model.parameters(), *model.buffers()]
        return Footprint(inputs, outputs, weights, meter)


def init_arguments(task_file, module):
    with task_file.blamed("has a get_init_inputs that fails"):
        arguments = module.get_init_inputs()
        if not isinstance(arguments, (list, tuple)):
            raise Fault(
                "task",
                f"get_init_inputs of {task_file.name} returns a {type(arguments).__name__}: it returns the "
                "list of Model's arguments",
            )
    return list(arguments)


def input_values(task_file, module, dtype, device="cpu"):
    """What get_inputs returns on this device, in the precision."""
    with task_file.blamed("has a get_inputs that fails"):
        try:
            with torch.device(device):
                values = module.get_inputs()
        except Exception:
            if device == "cpu":
                raise
            values = module.get_inputs()
        if not isinstance(values, (list, tuple)):
            raise Fault(
                "task",
                f"get_inputs of {task_file.name} returns a {type(values).__name__}: it returns the list of "
                "forward's arguments",
            )
        for one in values:
            if isinstance(one, (list, tuple, dict)) and flatten(one)[0]:
                raise Fault(
                    "task",
                    f"get_inputs of {task_file.name} returns tensors inside a {type(one).__name__}: give "
                    "each as an argument of its own",
                )
    return [cast(one.to(device) if isinstance(one, torch.Tensor) else one, dtype) for one in values]


def check_module(made, task_file):
    if not isinstance(made, torch.nn.Module):
        raise Fault("task", f"Model of {task_file.name} is not a torch.nn.Module")
