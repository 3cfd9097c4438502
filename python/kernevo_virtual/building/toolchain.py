"""The compilers of a build, and what they are told each time."""
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from kernevo_virtual import start

HERE = Path(__file__).absolute().parent
LAYER = HERE.parent
CLANGS = ("clang++-19", "clang++-18", "clang++-20", "clang++")
LIBRARIES = ("c10", "c10_cuda", "torch_cpu", "torch_cuda", "torch", "torch_python")
# As torch.utils.cpp_extension does, so that what it refuses is refused here.
TORCH_NVCC = ("-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
              "-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr")
PRECOMPILED = ("cuda_host", "tensor", "python", "large", "again")
# Errors of clang that nvcc's host compiler lets pass.
LENIENT = ("-w", "-Wno-c++11-narrowing", "-Wno-invalid-constexpr")
# clang knows the launches of toolkits up to this one, which have not changed since.
SDK = "12.5"


class BuildTrouble(RuntimeError):
    """The machine cannot build."""


@dataclass(frozen=True)
class Toolchain:
    clang: str  # empty: there is none, and every build is torch's own
    nvcc: str  # the toolkit's
    stand_in: str  # for nvcc, as torch's own builds use it
    toolkit: Path
    torch: Path
    libraries: Path  # kernevo's
    versions: str  # of the compilers, torch, and what they read
    whole: str  # and of these files

    def host_includes(self):
        include = self.torch / "include"
        folders = (include, include / "torch" / "csrc" / "api" / "include", self.toolkit / "include",
                   Path(sysconfig.get_path("include")))
        return [word for folder in folders for word in ("-isystem", str(folder))]

    def frontend(self):
        """clang's own compiler, without its driver: as CUDA, for the host, with none of clang's CUDA headers.
        torch's headers are those of a plain C++ compiler there."""
        return [*frontend_words(self.clang), *self.host_includes(), "-U__CUDA__", "-DTORCH_API_INCLUDE_EXTENSION_H",
                *TORCH_NVCC[:4], f"-target-sdk-version={SDK}", "-aux-triple", "nvptx64-nvidia-cuda", *LENIENT,
                "-ferror-limit", "30"]


@functools.lru_cache
def frontend_words(clang):
    told = subprocess.run([clang, "-###", "-x", "c++", "-std=c++20", "-fPIC", "-c", "/dev/null", "-o",
                           "/dev/null"], check=False, capture_output=True, text=True).stderr
    line = next((line for line in told.splitlines() if '"-cc1"' in line), None)
    if line is None:
        raise BuildTrouble(f"'{clang}' does not say how it compiles")
    words = shlex.split(line)
    words = words[:words.index("-x")]
    output = words.index("-o")
    del words[output:output + 2]
    words.remove("-emit-obj")
    return words


def content(*files):
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()


def version_of(command):
    try:
        text = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as problem:
        raise BuildTrouble(f"'{command}' does not run; run 'kernevo setup python' again") from problem
    return text


def torch_folder():
    import importlib.util

    return Path(importlib.util.find_spec("torch").submodule_search_locations[0])


def find_clang():
    """One that reads torch's headers as C++20."""
    for name in CLANGS:
        path = shutil.which(name)
        if path is None:
            continue
        found = re.search(r"version (\d+)", version_of(path))
        if found and int(found[1]) >= 18:
            return path
    return ""


@functools.lru_cache
def find():
    settings = start.settings()
    toolkit = Path(settings["toolkit"])
    torch = torch_folder()
    clang = find_clang()
    nvcc = str(toolkit / "bin" / "nvcc")
    version = (torch / "version.py").read_text(encoding="utf-8")
    versions = "\n".join((version, version_of(clang) if clang else "", version_of(nvcc), str(torch), str(toolkit),
                          os.uname().machine, content(*(HERE / f"{name}.h" for name in PRECOMPILED))))
    whole = versions + content(*sorted(HERE.glob("*.py")), *sorted(HERE.glob("*.h")))
    return Toolchain(clang, nvcc, str(LAYER / "nvcc"), toolkit, torch, start.libraries(), versions, whole)
