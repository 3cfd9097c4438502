"""What a child may touch, and giving up the rest. libkernevo_cuda.so does the confining."""
import ctypes
import json
import os
import resource
import sys
import sysconfig

from .fault import Fault

WINDOW = 1 << 42  # addresses for device memory: names only, no memory
DESCRIPTORS = 256
SPARE = 32 << 30  # addresses beside them: stacks of threads, libraries, compiled code
# Of the system: what Python, torch, LLVM and their threads look at when they begin.
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/proc/cpuinfo",
          "/proc/meminfo", "/sys/devices/system/cpu", "/sys/devices/system/node", "/dev/urandom", "/dev/zero")


def library():
    """libkernevo_cuda.so, which kernevo_virtual has loaded."""
    from kernevo_virtual import start

    return ctypes.CDLL(str(start.libraries() / "libkernevo_cuda.so"))


def entry(name, *arguments, result=ctypes.c_int):
    """A function of libkernevo_cuda.so."""
    function = getattr(library(), name, None)
    if function is None:
        raise Fault("machine", f"libkernevo_cuda.so lacks {name}; rebuild kernevo, run 'kernevo setup python'")
    function.argtypes, function.restype = arguments, result
    return function


def of_python():
    """Folders that imports need: of this Python, its packages, and of this one. Not all of sys.path: the folder
    that somebody works in may be there."""
    folders = {sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable)),
               *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
               os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
    return sorted(folder for folder in folders if folder and folder != "/")


def addresses_used():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def confine(readable, writable, memory, seconds, file_bytes, kind="program"):
    """For good. `memory` and `seconds` are seen to by the stage; here they end what escapes its eye."""
    limits = {"file_bytes": int(file_bytes), "cpu_seconds": int(seconds * (os.cpu_count() or 1)) + 30}
    if kind == "program":
        limits["address_space"] = addresses_used() + WINDOW + SPARE + int(memory)
        limit_descriptors()
    cell = {"kind": kind, "readable": [*SYSTEM, *of_python(), *map(str, readable)],
            "writable": ["/dev/null", *map(str, writable)], **limits}
    if entry("kernevo_confine", ctypes.c_char_p)(json.dumps(cell).encode()) != 0:
        problem = entry("kernevo_confine_problem", result=ctypes.c_char_p)()
        raise Fault("machine", problem.decode("utf-8", "replace"))
    os.chdir(writable[0])  # it may be another file system now


def limit_descriptors():
    # Files that are open and have no name any more are still on the disk.
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = DESCRIPTORS if allowed == resource.RLIM_INFINITY else min(DESCRIPTORS, allowed)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
