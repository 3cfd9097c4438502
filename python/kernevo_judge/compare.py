"""Outputs against what was expected.

The error of an element is measured in tolerances: one is rtol of the expected value, but no less than
atol of the output's own scale, so that outputs of any magnitude are held to the same relative precision."""

import math

import torch

from .fault import Fault
from .structure import flatten

AT_ONCE = 1 << 18  # what a processor's cache holds


def scale_of(expected):
    """The root of the mean square, held down where a few huge elements would hide all others; 1 for
    all zeros."""
    if not expected.is_floating_point() and not expected.is_complex():
        return 1.0  # these are equal or not
    pieces = [piece[torch.isfinite(piece)].abs().double() for piece in expected.reshape(-1).split(AT_ONCE)]
    count = sum(piece.numel() for piece in pieces)
    largest = max((piece.max().item() for piece in pieces if piece.numel()), default=0)
    if largest == 0:
        return 1.0
    squares = sum((piece / largest).square().sum().item() for piece in pieces)
    total = sum(piece.sum().item() for piece in pieces)
    return min(largest * (squares / count) ** 0.5, 4 * total / count)


def unlike(expected, actual, dtype):
    """Why an output can be no such output, whatever is in it."""
    if list(actual.shape) != list(expected.shape):
        return f"has shape {list(actual.shape)} instead of {list(expected.shape)}"
    if str(actual.dtype) != f"torch.{dtype}":
        return f"has dtype {str(actual.dtype).removeprefix('torch.')} instead of {dtype}"
    return None


def ratios(expected, actual, scale, rtol, atol):
    """Errors in tolerances, element by element; infinite where one is no number and the other is."""
    if not expected.is_floating_point() and not expected.is_complex():
        return torch.where(actual == expected, 0.0, math.inf).double()
    expected = expected.to(torch.complex128 if expected.is_complex() else torch.float64)
    actual = actual.to(expected.dtype)
    allowed = torch.clamp(rtol * expected.abs(), min=atol * scale)
    ratio = (actual - expected).abs() / allowed
    if math.isfinite(ratio.sum().item()):
        return ratio
    same = (actual == expected) | (torch.isnan(actual) & torch.isnan(expected))
    ordinary = torch.isfinite(expected) & torch.isfinite(actual)
    return torch.where(ordinary, torch.where(same, 0.0, ratio), torch.where(same, 0.0, math.inf))


def worst_of(expected, actual, scale, rtol, atol):
    """(largest ratio, its place in the flat output, how many are above 1, how many are NaN)."""
    worst, place, above, nan = 0.0, 0, 0, 0
    expected, actual = expected.reshape(-1), actual.reshape(-1)
    for start in range(0, expected.numel(), AT_ONCE):
        here = actual[start : start + AT_ONCE]
        ratio = ratios(expected[start : start + AT_ONCE], here, scale, rtol, atol)
        if ratio.numel() and (largest := ratio.max().item()) > worst:
            worst, place = largest, start + int(ratio.argmax())
        above += int((ratio > 1).sum())
        nan += int(torch.isnan(here).sum()) if here.is_floating_point() or here.is_complex() else 0
    return worst, place, above, nan


def is_right(expected, actual, scale, rtol, atol):
    """Whether no ratio is above 1; what is wrong early on is soon found."""
    expected, actual = expected.reshape(-1), actual.reshape(-1)
    return all(
        not bool((ratios(one, other, scale, rtol, atol) > 1).any())
        for one, other in zip(expected.split(AT_ONCE), actual.split(AT_ONCE))
    )


def number(value):
    """As JSON carries it."""
    if isinstance(value, complex):
        value = abs(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def same_values(expected, actual):
    """Whether two structures are one, with numbers as close as float32 has them. Which sequence holds
    is no matter."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        kinds = [next(iter(one)) for one in (expected, actual)]
        left, right = expected[kinds[0]], actual[kinds[1]]
        if kinds == ["value", "value"]:
            both = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (left, right))
            return math.isclose(left, right, rel_tol=1e-4, abs_tol=1e-12) if both else left == right
        if kinds == ["dict", "dict"]:
            return left.keys() == right.keys() and all(same_values(left[key], right[key]) for key in left)
        sequences = all(kind in ("tuple", "list") for kind in kinds)
        return sequences and len(left) == len(right) and all(map(same_values, left, right))
    return expected == actual


def read(path):
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise Fault("machine", f"{path} cannot be read back: {type(error).__name__}: {error}") from error


def compare(request):
    """{expected, outputs, structure?, tolerance?: {rtol, atol}, narrow?} → right, worst, elements, wrong, nan,
    text."""
    expected = read(request["expected"])
    given = read(request["outputs"])
    structure = request.get("structure")
    if isinstance(given, dict) and "tensors" in given:
        given, structure = given["tensors"], structure or given.get("structure")
    outputs, _ = flatten(given)
    answer = {"right": False, "worst": None, "elements": 0, "wrong": 0, "nan": 0, "text": None}
    wanted = expected["outputs"]
    if len(outputs) != len(wanted):
        return answer | {"text": f"{len(outputs)} tensors were returned instead of {len(wanted)}"}
    if structure is not None and not same_values(expected["structure"], structure):
        return answer | {"text": f"the outputs are {structure} instead of {expected['structure']}"}
    override = request.get("tolerance") or {}
    worst_ratio = 0.0
    for at, (one, actual) in enumerate(zip(wanted, outputs)):
        reference = one["expected"]
        difference = unlike(reference, actual, one["dtype"])
        if difference:
            return answer | {"text": f"output {at} {difference}"}
        easing = 1.0 if request.get("narrow", True) else one["easing"]
        rtol, atol = override.get("rtol", one["rtol"] * easing), override.get("atol", one["atol"] * easing)
        ratio, place, above, nan = worst_of(reference, actual, one["scale"], rtol, atol)
        answer["elements"] += reference.numel()
        answer["wrong"] += above
        answer["nan"] += nan
        if reference.numel() and (ratio > worst_ratio or answer["worst"] is None):
            worst_ratio = max(ratio, worst_ratio)
            wanted_value, value = reference.reshape(-1)[place].item(), actual.reshape(-1)[place].item()
            allowed = (
                max(rtol * abs(wanted_value), atol * one["scale"]) if reference.is_floating_point() else 0
            )
            index = (
                [int(one) for one in torch.unravel_index(torch.tensor(place), reference.shape)]
                if reference.dim()
                else []
            )
            answer["worst"] = {
                "ratio": number(ratio),
                "output": at,
                "index": index,
                "expected": number(wanted_value),
                "actual": number(value),
                "tolerance": number(allowed),
            }
    answer["right"] = worst_ratio <= 1
    return answer
