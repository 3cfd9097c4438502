"""What a task's outputs must be: the reference in float64 on the same weights and inputs, and how far
an honest
program may be from that."""

import copy

import torch

from . import arithmetic
from .compare import is_right, scale_of, worst_of
from .fault import Fault
from .footprint import check_module, init_arguments
from .precision import TOLERANCES, cast, name_of
from .structure import flatten

MARGIN = 8  # an honest float32 program may be this many times as far from the truth as torch's own
HALF_MARGIN = 2.5  # and one in sixteen bits this many times as far as torch's in sixteen bits
WIDEST = (
    4  # times KernelBench's tolerance: where more is needed, inputs other than the task's own are not used
)
TIGHTEST = 0.02  # of KernelBench's tolerance: 2e-6 for float32, 32 units in the last place
SUMMED = 8 * 2**-24 / 3**0.5  # times the root of a sum's length: eight deviations of plain sums in float32
IMITATED_PRODUCTS = 5e8
SAMPLED = 1 << 22  # elements that are looked at for torch's own error


class Unusable(Exception):
    """Inputs on which the reference itself cannot be trusted, with the reason in words."""


class Output:
    """One output: its exact values, its type in the task's precision, and the tolerance."""

    def __init__(self, exact, dtype, rtol, atol):
        self.exact, self.dtype = exact, dtype
        self.rtol, self.atol = rtol, atol
        self.easing = 1.0  # for who is seen to do without narrower arithmetic: the tolerance times so much
        self.scale = scale_of(exact)

    def worst(self, actual):
        return worst_of(self.exact, actual, self.scale, self.rtol, self.atol)[0]

    def sampled(self, actual):
        """The same of large outputs, from some parts of them."""
        if self.exact.numel() <= SAMPLED:
            return self.worst(actual)
        parts = [
            torch.cat(one.reshape(-1).split(SAMPLED // 64)[:: -(-one.numel() // SAMPLED)])
            for one in (self.exact, actual)
        ]
        return worst_of(*parts, self.scale, self.rtol, self.atol)[0]

    def widen(self, factor):
        self.rtol, self.atol = self.rtol * factor, self.atol * factor

    def record(self):
        # Where it is a matter of memory float32 is exact enough: a thirtieth of the tightest tolerance.
        large = self.exact.dtype == torch.float64 and self.exact.numel() > SAMPLED
        return {
            "expected": self.exact.float() if large else self.exact,
            "dtype": self.dtype,
            "rtol": self.rtol,
            "atol": self.atol,
            "easing": self.easing,
            "scale": self.scale,
        }


def tolerance_of(module, precision, asked=None):
    """The request's, the task's own (rtol, atol or TOLERANCE), or KernelBench's for the precision."""
    usual = TOLERANCES[precision]
    names = {
        name.lower(): value
        for name, value in vars(module).items()
        if name.lower() in ("rtol", "atol", "tolerance")
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
        and value >= 0
    }
    both = names.get("tolerance", usual)
    found = {"rtol": float(names.get("rtol", both)), "atol": float(names.get("atol", both))}
    return {**found, **(asked or {})}, bool(names) or bool(asked)


class Oracle:
    """The reference of a task at some sizes, with the weights a candidate is given."""

    def __init__(self, task_file, module, precision, seed, train, tolerance, fixed, allow_tf32):
        self.task_file, self.precision, self.train = task_file, precision, train
        self.tolerance, self.fixed, self.allow_tf32 = tolerance, fixed, allow_tf32
        torch.manual_seed(seed)
        self.arguments = cast(init_arguments(task_file, module), precision)
        torch.manual_seed(seed)
        with task_file.blamed("has a Model that cannot be made"), torch.no_grad():
            made = module.Model(*self.arguments)
            check_module(made, task_file)
            # What a candidate has are weights of the precision; the truth is of those.
            self.rounded = made.to(precision).train(train)
        self.float32 = self.rounded if precision == torch.float32 else widened(self.rounded, torch.float32)
        self.float64 = widened(self.rounded, torch.float64)

    def run(self, model, inputs, dtype, within=None, seed=0):
        """(tensors, structure). The module is a copy but for its weights: what it changes in itself is
        gone afterwards."""
        model = copy.deepcopy(model, {id(one): one for one in model.parameters()})
        torch.manual_seed(seed)
        inputs = [one.clone() if isinstance(one, torch.Tensor) else one for one in cast(inputs, dtype)]
        with torch.no_grad(), self.task_file.blamed("has a Model whose forward fails"):
            if within is None:
                result = model(*inputs)
            else:
                with within:
                    result = model(*inputs)
        tensors, structure = flatten(result)
        if not tensors:
            raise Fault(
                "task", f"forward of {self.task_file.name} returns no tensor: nothing could be compared"
            )
        return [one.detach() for one in tensors], structure

    def exact(self, inputs):
        """In float64; in float32 where the module insists on that."""
        if self.float64 is not None:
            try:
                return self.run(self.float64, inputs, torch.float64)
            except Fault:
                again = self.run(self.float32, inputs, torch.float32)
                self.float64 = None
                return again
        return self.run(self.float32, inputs, torch.float32)

    def judge(self, inputs, footprint, strict, ties=False):
        """(outputs, structure, what forbidden arithmetic is not told apart). Raises Unusable where
        `strict`."""
        products = footprint.products
        exact, structure = self.exact(inputs)
        usual, _ = self.run(self.float32, inputs, torch.float32)
        native = usual if self.precision == torch.float32 else self.native(inputs, exact, products)
        outputs = [
            Output(one, name_of((native or cast(exact, self.precision))[at].dtype), **self.tolerance)
            for at, one in enumerate(exact)
        ]
        banned = arithmetic.forbidden(self.precision, self.allow_tf32)
        imitation = None
        if banned and products <= IMITATED_PRODUCTS:
            imitation = self.imitated(banned[1], inputs)
        elif self.allow_tf32 and self.precision == torch.float32 and products <= IMITATED_PRODUCTS:
            imitation = self.imitated(arithmetic.TensorFloat, inputs)
        missed = []
        for at, output in enumerate(outputs):
            if strict:
                require_finite(output, usual[at])
            if output.exact.is_floating_point():
                told = self.settle(
                    output,
                    usual[at],
                    native[at] if native else None,
                    imitation and imitation[at],
                    strict,
                    SUMMED * footprint.longest**0.5,
                )
                if banned and not told:
                    missed.append(at)
            elif strict and output.worst(usual[at]) > 0:
                raise Unusable("float32 decides otherwise than float64")
            elif ties and not output.exact.is_complex() and output.exact.dtype != torch.bool:
                raise Unusable("which of equal values an index means is nobody's to say")
        return outputs, structure, banned[0] if banned and len(missed) == len(outputs) else None

    def native(self, inputs, exact, products):
        """The reference in sixteen bits, or None where the host cannot or it would take long."""
        if products > 4 * IMITATED_PRODUCTS:
            return None
        try:
            return self.run(self.rounded, inputs, self.precision)[0]
        except Fault:
            return None

    def imitated(self, arithmetic_mode, inputs):
        try:
            model, dtype = (
                (self.float32, torch.float32)
                if self.precision == torch.float32
                else (self.rounded, self.precision)
            )
            # oneDNN's recurrent networks are one operator, with no product to be seen.
            with torch.backends.mkldnn.flags(enabled=False):
                return self.run(model, inputs, dtype, within=arithmetic_mode())[0]
        except Fault:
            return None

    def settle(self, output, usual, native, imitation, strict, summed):
        """Sets the output's tolerance. Whether forbidden arithmetic is outside of it."""
        own = output.sampled(usual)
        rough = output.sampled(native) if native is not None and self.precision != torch.float32 else 0.0
        if strict and MARGIN * own > WIDEST:
            raise Unusable(f"torch's own float32 is off by {own * output.rtol:.1e} of the values")
        if strict and rough > 1:
            raise Unusable(
                f"torch's own {name_of(self.precision)} is off by {rough * output.rtol:.1e} of the values"
            )
        finite = [one for one in (MARGIN * own, HALF_MARGIN * rough) if one != float("inf")]
        least = max([TIGHTEST, *finite])
        factor = max(1.0, least)
        same = imitation is None or native is not None and torch.equal(imitation, native)
        bad = None if same else output.worst(imitation)
        told = True
        if bad is not None and self.allow_tf32 and self.precision == torch.float32:
            factor = max(factor, 3 * bad) if bad != float("inf") else factor
        elif bad is not None and bad <= 1.5 * factor:
            closer = max(least, summed / output.rtol, bad / (3 if self.precision == torch.float32 else 1.7))
            told = closer <= 0.8 * bad
            if told and not self.fixed:
                output.easing = max(1.0, factor / closer)
                factor = closer
            told = told and bad > factor
        output.widen(factor)
        return told


def require_finite(output, usual):
    """Outputs that overflow say little; a reference that has infinities by design has them in its
    nominal inputs."""
    if not output.exact.is_floating_point():
        return
    if not bool(torch.isfinite(output.exact).all()) or not bool(torch.isfinite(usual).all()):
        raise Unusable("the reference is not finite there")
    if (
        output.exact.numel()
        and output.exact.abs().max().item() > torch.finfo(getattr(torch, output.dtype)).max / 2
    ):
        raise Unusable(f"the outputs do not fit {output.dtype}")


def widened(model, dtype):
    """A copy of a module in this type, with tensors it keeps as plain attributes."""
    copied = copy.deepcopy(model).to(dtype)
    for one in copied.modules():
        for name, value in list(vars(one).items()):
            if (
                isinstance(value, torch.Tensor)
                and value.is_floating_point()
                and not isinstance(value, torch.nn.Parameter)
            ):
                setattr(one, name, value.to(dtype))
    return copied


def controls(outputs, inputs, elsewhere):
    """Outputs of programs that compute nothing, by what one would say of each: lists of tensors like
    the outputs."""
    found = {"zeros": [torch.zeros_like(one.exact) for one in outputs]}
    for at, given in enumerate(inputs):
        if isinstance(given, torch.Tensor) and all(given.shape == one.exact.shape for one in outputs):
            found[f"a copy of input {at}"] = [given.to(one.exact.dtype) for one in outputs]
    if elsewhere is not None and [one.shape for one in elsewhere] == [one.exact.shape for one in outputs]:
        found["the outputs of other inputs"] = elsewhere
        found["a constant"] = [torch.full_like(one, middle(one)) for one in elsewhere]
    return found


def middle(exact):
    if exact.dtype == torch.bool:
        return bool(exact.double().mean() > 0.5)
    finite = exact[torch.isfinite(exact)] if exact.is_floating_point() else exact
    return finite.double().mean().item() if finite.numel() and not exact.is_complex() else 0


def passing(outputs, inputs, elsewhere):
    """Which of those would be taken for right."""
    return {
        name
        for name, made in controls(outputs, inputs, elsewhere).items()
        if all(
            is_right(output.exact, one, output.scale, output.rtol, output.atol)
            for output, one in zip(outputs, made)
        )
    }
