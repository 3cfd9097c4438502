"""Extensions that a candidate wants compiled. Its own process may start no compiler, so it asks the stage,
which has a process do it that runs nothing of the candidate and sees compilers, headers and its folder."""
import importlib.util
import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

from . import cage, wire
from .child import LIBC, PR_SET_PDEATHSIG, REPLY, some
from .fault import Fault

MOST = 16            # builds of a job
SECONDS = 240        # of one
MEMORY = 8 << 30     # of a compiler
LARGEST = 1 << 30    # bytes of a file it writes
SOURCES = 4 << 20    # characters of an extension
NAME = re.compile(r"[A-Za-z_]\w{0,99}")
# What a compiler is told must not make it run or read anything else: plugins, wrappers, folders.
FLAG = re.compile(r"-(O[0-3s]|Ofast|g|w|std=[\w+]+|[DU]\w+(=[\w.+\-]*)?|W(no-)?[\w\-=+]+|W|m(avx\w*|fma|sse[\w.]*|arch=native)"
                  r"|f(fast-math|PIC|permissive|openmp|no-[\w\-]+|unroll-loops|inline-functions|lto)"
                  r"|-?(use_fast_math|lineinfo|extended-lambda|expt-relaxed-constexpr|expt-extended-lambda)"
                  r"|-?(fmad|ftz|prec-div|prec-sqrt|maxrregcount|threads|std|default-stream)=[\w+\-]+"
                  r"|-?(gpu-architecture|gpu-code)=\w+|arch=\w+|gencode=[\w,=]+|Xptxas=[\w,\-=]+|l\w+)")
TAKES_ANOTHER = {"-gencode": re.compile(r"arch=\w+,code=\w+"), "-Xptxas": re.compile(r"-{0,2}[\w\-=,]+"),
                 "--ptxas-options": re.compile(r"-{0,2}[\w\-=,]+"), "-maxrregcount": re.compile(r"\d+"),
                 "-Xcompiler": FLAG, "--compiler-options": FLAG, "-std": re.compile(r"[\w+]+"),
                 "-arch": re.compile(r"\w+"), "--threads": re.compile(r"\d+")}


# The stage's side.

class Builds:
    """Those of one job."""

    seconds = SECONDS

    def __init__(self, folder, cache):
        self.folder, self.cache, self.begun = Path(folder), Path(cache), 0

    def begin(self, payload):
        self.begun += 1
        if self.begun > MOST:
            return Refusal(Fault("build", f"more than {MOST} extensions"))
        try:
            checked = checked_payload(payload)
            place = self.folder / str(self.begun)
            place.mkdir()
            self.cache.mkdir(parents=True, exist_ok=True)
            return Build(checked, place, self.cache)
        except Fault as fault:
            return Refusal(fault)


class Refusal:
    """An answer that took no build."""

    def __init__(self, fault):
        self.fault, self.begun = fault, time.monotonic()
        self.descriptor, other = os.pipe()
        os.close(other)

    def answer(self):
        return {"error": self.fault.record()}

    def close(self):
        os.close(self.descriptor)


class Build:
    """A compiler's process. All it starts is of its process group, which nothing of a candidate's runs in."""

    def __init__(self, payload, place, cache):
        self.begun, self.place, self.said = time.monotonic(), place, bytearray()
        self.descriptor, other = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            compile_in_cage(payload, place, cache, other)
        os.close(other)
        os.set_blocking(self.descriptor, False)

    def answer(self):
        """None where it is not ready."""
        part = some(self.descriptor)
        if part is None:
            return None
        self.said += part
        try:
            said = wire.take(self.said, REPLY)
        except wire.Torn:
            said = {}
        if said is None:
            return None if part else {"error": Fault("build", "the compiler's process ended").record()}
        if "error" in said:
            return {"error": said["error"]}
        return {"path": said["path"]}

    def close(self):
        os.close(self.descriptor)
        try:
            os.killpg(self.process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def compile_in_cage(payload, place, cache, answers):
    """In the compiler's process, which never returns."""
    try:
        os.setsid()
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.dup2(answers, 3)
        os.closerange(4, 1 << 16)
        os.environ.update(HOME=str(place), TMPDIR=str(place), TRITON_CACHE_DIR=str(place), MAX_JOBS="2")
        os.chdir(place)
        try:
            from kernevo_virtual import extension

            cage.confine([os.environ["CUDA_HOME"]], [place, cache], MEMORY, SECONDS, LARGEST, kind="compile")
            answer = {"path": str(extension.build(payload, cache))}
        except Fault as fault:
            answer = {"error": fault.record()}
        except Exception as problem:  # pylint: disable=broad-except
            lines = [line for line in str(problem).splitlines() if line.strip()]
            answer = {"error": Fault("build", lines[0] if lines else repr(problem), None, lines[1:60]).record()}
        wire.send(3, answer)
    finally:
        os._exit(0)


def checked_payload(payload):
    """What was asked, if it is no more than sources and harmless flags."""
    if not isinstance(payload, dict) or not NAME.fullmatch(str(payload.get("name", ""))):
        raise Fault("build", "an extension's name is a word")
    files = payload.get("files", {})
    sources = [*texts(payload, "cpp_sources"), *texts(payload, "cuda_sources"), *texts(payload, "functions")]
    if not isinstance(files, dict) or not all(re.fullmatch(r"[\w\-]+(\.[\w\-]+)+", name) for name in files):
        raise Fault("build", "files of an extension have plain names")
    if sum(len(text) for text in [*sources, *map(str, files.values())]) > SOURCES:
        raise Fault("build", f"an extension's sources are longer than {SOURCES >> 20} MiB")
    for key in ("extra_cflags", "extra_cuda_cflags", "extra_ldflags"):
        check_flags(texts(payload, key))
    return {"name": payload["name"], "files": {name: str(text) for name, text in files.items()},
            "no_implicit_headers": bool(payload.get("no_implicit_headers")), "functions": payload.get("functions"),
            **{key: texts(payload, key) for key in ("cpp_sources", "cuda_sources", "extra_cflags",
                                                    "extra_cuda_cflags", "extra_ldflags")}}


def texts(payload, key):
    value = payload.get(key) or []
    value = [value] if isinstance(value, str) else list(value)
    if len(value) > 1000 or not all(isinstance(one, str) for one in value):
        raise Fault("build", f"{key} is no list of texts")
    return value


def check_flags(flags):
    rest = [part for flag in flags for part in flag.split()]
    while rest:
        flag = rest.pop(0)
        if flag in TAKES_ANOTHER and rest:
            if TAKES_ANOTHER[flag].fullmatch(rest[0]):
                rest.pop(0)
                continue
        elif FLAG.fullmatch(flag):
            continue
        raise Fault("build", f"the flag '{flag}' is not for extensions here")


# The candidate's side.

class Builder:
    """Asks the stage, in place of torch's own builder."""

    def __init__(self, asks):
        self.asks, self.modules = socket.socket(fileno=asks), {}

    def install(self):
        from torch.utils import cpp_extension

        cpp_extension.load_inline = self.load_inline
        cpp_extension.load = self.load

    def load_inline(self, name, cpp_sources, cuda_sources=None, functions=None, extra_cflags=None,
                    extra_cuda_cflags=None, extra_ldflags=None, extra_include_paths=None, build_directory=None,
                    verbose=False, with_cuda=None, is_python_module=True, with_pytorch_error_handling=True,
                    keep_intermediates=True, use_pch=False, no_implicit_headers=False, **_):
        return self.built({"name": name, "cpp_sources": cpp_sources, "cuda_sources": cuda_sources,
                           "functions": functions, "extra_cflags": extra_cflags, "extra_cuda_cflags": extra_cuda_cflags,
                           "extra_ldflags": extra_ldflags, "no_implicit_headers": no_implicit_headers}, is_python_module)

    def load(self, name, sources, extra_cflags=None, extra_cuda_cflags=None, extra_ldflags=None,
             extra_include_paths=None, build_directory=None, verbose=False, with_cuda=None, is_python_module=True,
             is_standalone=False, keep_intermediates=True, **_):
        files = {}
        for path in [sources] if isinstance(sources, str) else sources:
            with open(path, encoding="utf-8") as file:
                files[os.path.basename(path)] = file.read()
        return self.built({"name": name, "files": files, "extra_cflags": extra_cflags,
                           "extra_cuda_cflags": extra_cuda_cflags, "extra_ldflags": extra_ldflags}, is_python_module)

    def built(self, payload, is_python_module):
        key = wire.pack(payload)
        if key not in self.modules:
            wire.send(self.asks.fileno(), payload)
            answer = wire.receive(self.asks.fileno(), REPLY) or {"error": Fault("build", "no answer").record()}
            if "error" in answer:
                raise Fault(**answer["error"])
            self.modules[key] = imported(payload["name"], answer["path"], is_python_module)
        return self.modules[key]


def imported(name, path, is_python_module):
    import torch

    if not is_python_module:
        return torch.ops.load_library(path)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
