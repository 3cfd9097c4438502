"""Runs when the environment's Python starts: waits until torch or Triton is imported, and then brings
kernevo's CUDA libraries in front of NVIDIA's before either looks for them."""
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).absolute().parent
OURS = ("libcuda.so.1", "libcudart.so.13")


def settings():
    return json.loads((HERE / "settings.json").read_text(encoding="utf-8"))


def libraries():
    """The folder of kernevo's CUDA libraries: of the kernevo that runs the program, else of the one that
    set the environment up."""
    folders = [Path(name) for name in os.environ.get("LD_LIBRARY_PATH", "").split(":") if name]
    folders.append(Path(settings()["libraries"]))
    for folder in folders:
        if (folder / "libkernevo_cuda.so").exists():
            return folder
    sys.exit(f"kernevo: the CUDA libraries are no longer in '{folders[-1]}'; run 'kernevo setup python' again")


def set_where_unset(values):
    for name, value in values.items():
        os.environ.setdefault(name, value)


def prepare():
    import ctypes

    folder = libraries()
    toolkit = settings()["toolkit"]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    set_where_unset({
        # Each tensor is an allocation, so that an access past its end is seen.
        "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
        "TRITON_LIBCUDA_PATH": str(folder),
        # PTX is what the virtual GPU runs: nothing is assembled.
        "TRITON_PTXAS_PATH": str(HERE / "ptxas"),
        "TRITON_PTXAS_BLACKWELL_PATH": str(HERE / "ptxas"),
        "TRITON_CACHE_DIR": os.path.join(cache, "kernevo", "triton"),
        "TRITON_DEFAULT_FP_FUSION": "1",
        # What extensions are built with.
        "CUDA_HOME": toolkit,
        "PYTORCH_NVCC": str(HERE / "nvcc"),
        "KERNEVO_CUDA": toolkit,
        "KERNEVO_CUDART": str(folder / "libcudart.so.13"),
    })
    # torch's headers include those of NVIDIA's other libraries, and programs link them; these are looked for last.
    for name, place in (("CPLUS_INCLUDE_PATH", "include"), ("LIBRARY_PATH", "lib")):
        os.environ[name] = ":".join(part for part in (os.environ.get(name), str(HERE / place)) if part)
    for library in [folder / name for name in OURS] + sorted((HERE / "lib").glob("*.so.*")):
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


class Waiting:
    """A finder that finds nothing; it sees which modules are asked for."""

    preparing = False

    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "triton") and not Waiting.preparing:
            Waiting.preparing = True
            prepare()
            return None
        if name in EXCHANGED:
            return exchanged(name, path)
        return None


# Modules of which some functions are ours: Triton's benchmarks read the virtual GPU's clock, torch's extensions
# are built in seconds.
EXCHANGED = {"triton.testing": "benchmark", "torch.utils.cpp_extension": "extension"}


def exchanged(name, path):
    import importlib
    import importlib.machinery

    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None or spec.loader is None:
        return spec
    run = spec.loader.exec_module

    def exec_module(module):
        run(module)
        importlib.import_module(f"kernevo_virtual.{EXCHANGED[name]}").put_into(module)

    spec.loader.exec_module = exec_module
    return spec


def wait_for_torch():
    if os.environ.get("KERNEVO_VIRTUAL", "1") != "0":
        sys.meta_path.insert(0, Waiting())
