"""The two requests about a task: `describe` finds the sizes it is judged at, `prepare` makes the files
of one."""

import hashlib
import os

import torch

from . import variants
from .cases import CaseFinder
from .fault import Fault
from .footprint import Surveyor, init_arguments, input_values
from .oracle import Oracle, Unusable, passing, tolerance_of
from .precision import cast, name_of, precision_of

from .secret import secret_of
from .task_file import TaskFile

MEMORY = 4 << 30
LARGE = 2e7  # elements


def describe(request):
    """{task, precision?, memory?, mode?, tolerance?} → cases, float64, mode, tolerance, warnings."""
    task_file, precision = TaskFile(request["task"]), precision_of(request)
    surveyor = Surveyor(task_file, precision)
    mode, warnings = mode_of(request, surveyor, {})
    finder = CaseFinder(task_file, surveyor, request.get("memory") or MEMORY, mode == "train")
    cases = finder.all()
    if len(cases) == 1 and not finder.sizes.real:
        warnings.append(
            "no size can be changed (module-level integers that get_inputs or get_init_inputs reads, and "
            "Model does not): it is judged at its real sizes only"
        )
    exact = in_float64(finder.surveyor, cases[0], mode)
    if not exact:
        warnings.append("the module insists on its types: its own float32 is the reference, not float64")
    tolerance, _ = tolerance_of(finder.surveyor.module({}), precision, request.get("tolerance"))
    return {
        "cases": [{**case.record(), "fits": finder.fits(case.footprint)} for case in cases],
        "float64": exact,
        "mode": mode,
        "tolerance": tolerance,
        "warnings": warnings,
    }


def mode_of(request, surveyor, sizes):
    """As KernelBench: modules are left as they are made, which is training mode, unless that draws
    random numbers."""
    asked = request.get("mode")
    if asked not in (None, "train", "eval"):
        raise Fault("task", f"no mode '{asked}': train or eval")
    drawn = surveyor.take(sizes, train=asked != "eval").random
    if drawn is None:
        return asked or "train", []
    if asked != "eval" and surveyor.take(sizes, train=False).random is None:
        if asked == "train":
            raise Fault(
                "task",
                f"forward draws random numbers in training mode ({drawn}), so no two programs agree: "
                "judge it in evaluation mode",
            )
        return "eval", [
            f"forward draws random numbers in training mode ({drawn}): it is judged in evaluation mode, "
            "where dropout does nothing and batch normalization uses its running statistics"
        ]
    raise Fault(
        "task",
        f"forward draws random numbers ({drawn}), so no two programs agree: make them inputs of the task",
    )


def in_float64(surveyor, case, mode):
    """The host says it for certain, and is asked where that is quick; the meta device lets some
    mixtures pass."""
    if case.footprint.seconds < 0.05 and case.footprint.weight_bytes < 16 << 20:
        surveyor = Surveyor(surveyor.task_file, surveyor.precision, "cpu")
    try:
        outputs = surveyor.take(case.changed, mode == "train", torch.float64).outputs
    except Fault:
        return False
    wanted = [one["dtype"] for one in case.footprint.outputs]
    return all(
        one["dtype"] == "float64" or not of.endswith(("float32", "float16"))
        for one, of in zip(outputs, wanted)
    )


def prepare(request):
    """{task, precision?, case: {id, globals}, seed, variants?, place, mode?, values?, secret_file?} → the
    files of a case.

    Weights and decoys follow `seed`, which candidates may know. Judged inputs follow the secret, which
    they must not; without one they are different each time."""
    task_file, precision = TaskFile(request["task"]), precision_of(request)
    sizes = (request.get("case") or {}).get("globals") or {}
    place = request["place"]
    surveyor = Surveyor(task_file, precision)
    mode, _ = mode_of(request, surveyor, sizes)
    footprint = surveyor.take(sizes, mode == "train")
    if request.get("values") is False:
        return without_values(task_file, precision, sizes, mode, request, place, footprint)

    module = task_file.load(sizes)
    tolerance, fixed = tolerance_of(module, precision, request.get("tolerance"))
    oracle = Oracle(
        task_file,
        module,
        precision,
        request.get("seed", 0),
        mode == "train",
        tolerance,
        fixed,
        bool(request.get("allow_tf32")),
    )
    decoys = [
        drawn(task_file, module, precision, number_of(request.get("seed", 0), "decoy", at)) for at in (1, 2)
    ]
    files = begin(place, oracle.arguments, precision, mode, request, decoys)
    # A task that is trivial is so at small sizes.
    elsewhere = oracle.exact(decoys[0])[0] if footprint.elements < LARGE else None

    made, trivial, missed, structure = [], None, [], None
    secret = secret_of(request)
    for name in request.get("variants") or variants.NAMES:
        if name not in variants.NAMES:
            raise Fault("task", f"no variant '{name}': {', '.join(variants.NAMES)}")
        answer, judged = one_variant(name, task_file, module, oracle, footprint, secret, request)
        if judged is not None:
            inputs, outputs, structure, escaped = judged
            answer["inputs"] = saved(place, f"inputs-{name}.pt", inputs)
            answer["expected"] = saved(
                place,
                f"expected-{name}.pt",
                {"outputs": [one.record() for one in outputs], "structure": structure},
            )
            nothing = passing(outputs, inputs, elsewhere)
            trivial = nothing if trivial is None else trivial & nothing
            missed.append(escaped)
        made.append(answer)
    why = f"{' and '.join(sorted(trivial))} would be taken for right" if trivial else None
    outputs = footprint.outputs
    return {
        "variants": made,
        "outputs": outputs,
        "structure": structure,
        "mode": mode,
        "trivial": bool(trivial),
        "trivial_why": why,
        "not_told_apart": missed[0] if missed and all(missed) else None,
        "float64": oracle.float64 is not None,
        **files,
    }


def one_variant(name, task_file, module, oracle, footprint, secret, request):
    """(its reply, (inputs, outputs, structure, arithmetic that escapes) or None)."""
    reply = {"name": name, "used": False, "why": None, "inputs": None, "expected": None}
    seed = number_of(secret, name, (request.get("case") or {}).get("id"))
    for way in variants.ways(name, oracle.precision):
        source = variants.Source(way)
        try:
            inputs = drawn(task_file, module, oracle.precision, seed, source)
            if name != "nominal" and source.changed == 0:
                return {**reply, "why": "get_inputs draws nothing with torch.rand or torch.randn"}, None
            if name == "signed" and not source.any_uniform:
                return {**reply, "why": "the task's own inputs have both signs"}, None
            judged = oracle.judge(inputs, footprint, name != "nominal", name == "ragged")
        except Unusable as unusable:
            reply["why"] = str(unusable)
        except Fault as fault:
            if name == "nominal":
                raise
            reply["why"] = "the reference refuses such inputs: " + fault.text
        else:
            return {**reply, "used": True, "why": None}, (inputs, *judged)
    return reply, None


def drawn(task_file, module, precision, seed, source=None):
    torch.manual_seed(seed)
    if source is None:
        return input_values(task_file, module, precision)
    with source:
        return input_values(task_file, module, precision)


def without_values(task_file, precision, sizes, mode, request, place, footprint):
    """init.pt and decoy.pt with tensors that have shapes only."""
    module = task_file.load(sizes)
    with torch.device("meta"):
        arguments = cast(init_arguments(task_file, module), precision)
    decoys = [input_values(task_file, module, precision, "meta") for _ in range(2)]
    return {
        "variants": [],
        "outputs": footprint.outputs,
        "mode": mode,
        "trivial": False,
        "trivial_why": None,
        **begin(place, arguments, precision, mode, request, decoys),
    }


def begin(place, arguments, precision, mode, request, decoys):
    return {
        "init": saved(
            place,
            "init.pt",
            {
                "arguments": arguments,
                "precision": name_of(precision),
                "mode": mode,
                "seed": request.get("seed", 0),
            },
        ),
        "decoy": saved(place, "decoy.pt", decoys),
    }


def saved(place, name, value):
    path = os.path.join(place, name)
    try:
        torch.save(value, path)
    except OSError as error:
        raise Fault("machine", f"{path} cannot be written: {error.strerror}") from error
    return path


def number_of(*parts):
    """A seed that says nothing of what it was made of."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "little") >> 1
