"""The device's part: PTX by the toolkit's nvcc, without torch's headers where the kernels need none of them."""
import re

from kernevo_virtual.building import commands
from kernevo_virtual.building.errors import errors_in
from kernevo_virtual.building.split import TORCH_MACROS, TORCH_NAMES
from kernevo_virtual.building.tokens import CannotSplit
from kernevo_virtual.building.toolchain import HERE, LAYER, TORCH_NVCC

STUB = "__device_stub__"
# What torch's headers include, and programs therefore do not.
STANDARD = ("cassert", "cfloat", "climits", "cmath", "cstddef", "cstdint", "cstdio", "cstring", "limits",
            "type_traits")
STANDARD_WITH_STD = ("algorithm", "array", "functional", "initializer_list", "tuple", "utility")
HALF = re.compile(r"half2?$|__half\w*|__nv_bfloat16\w*|nv_bfloat16\w*|__nv_fp8\w*|__bfloat16\w*|"
                  r"__h[a-z0-9_]+|__float2\w+|h(sin|cos|exp|log|sqrt|rsqrt|rcp|floor|ceil)\w*")
OF_TORCH = ("c10/util/Half.h", "c10/util/BFloat16.h", "c10/util/complex.h", "c10/macros/Macros.h",
            "c10/cuda/CUDAMathCompat.h", "ATen/core/TensorAccessor.h", "ATen/AccumulateType.h",
            "ATen/OpMathType.h", "ATen/NumericUtils.h", "ATen/cuda/DeviceUtils.cuh", "ATen/cuda/detail/KernelUtils.h")


class DeviceRefused(CannotSplit):
    """nvcc does not take the device's part."""

    def __init__(self, said, text):
        found = errors_in(said)
        super().__init__(f"nvcc: {found[0][0]}:{found[0][1]}: {found[0][2]}" if found else
                         f"nvcc: {said.strip()[:200]}")
        self.said = said
        self.text = text


# All of them take nvcc two seconds; these two are what AT_DISPATCH asks for, and take little.
OF_HALVES = {"Half": "c10/util/Half.h", "BFloat16": "c10/util/BFloat16.h"}


def torch_headers(names, text):
    """Those for 16-bit numbers where nothing else of torch is named."""
    others = re.search(r"\b(at|torch)\s*::|\bc10\s*::\s*(?!Half\b|BFloat16\b)", text)
    if others or any(TORCH_MACROS.match(name) for name in names) or not names & set(OF_HALVES):
        return OF_TORCH
    return [header for name, header in OF_HALVES.items() if name in names]


def prelude(names, device_text):
    """What stands before the device's part; `names`: all that it uses."""
    headers = list(STANDARD)
    if "std" in names or "min" in names or "max" in names:
        headers += STANDARD_WITH_STD
    if any(HALF.match(name) for name in names):
        headers += ["cuda_fp16.h", "cuda_bf16.h"]
    text = "".join(f"#include <{header}>\n" for header in headers)
    if needs_torch(names):
        text += "".join(f"#include <{header}>\n" for header in torch_headers(names, device_text))
        text += "namespace at {}\nnamespace torch { using namespace at; }\n"
    return text


def needs_torch(names):
    return bool(names & (TORCH_NAMES - {"py", "pybind11"})) or any(TORCH_MACROS.match(name) for name in names)


def instantiations(symbols):
    """A line for each kernel of a template that the host's part launches. `symbols`: {mangled: readable} of the
    stubs that clang made."""
    lines = []
    for readable in symbols.values():
        kernel = readable.replace(STUB, "")
        if is_of_template(kernel):
            kernel = kernel.replace("(anonymous namespace)::", "")
            lines.append(f"template __global__ {kernel};")
    return '\n#line 1 "instantiations"\n' + "\n".join(lines) + "\n"


def is_of_template(readable):
    """Readable names of functions begin with what they return only where they come from a template."""
    return readable.startswith("void ")


def compile_device(toolchain, text, names, output, architecture, flags, folders=()):
    """A file of PTX."""
    source = output.with_suffix(".device.cu")
    source.write_text(prelude(names, text) + text, encoding="utf-8")
    includes = [word for folder in folders for word in ("-I", folder)]
    if needs_torch(names):
        include = toolchain.torch / "include"
        includes += ["-isystem", include]
    said = commands.run([toolchain.nvcc, "-ptx", "-w", "-lineinfo", "-std=c++20", f"-arch=compute_{architecture}",
                         "-include", LAYER / "legacy.h", *TORCH_NVCC, *flags, *includes, "-o", output, source],
                        output.parent)
    if said.code != 0:
        raise DeviceRefused(said.output, text)
    return output
