"""What is slow the first time is done once, before there are children; what would start processes is replaced."""
import os
import tempfile
import threading

# PTX is what the virtual GPU runs: nothing is assembled, and no process started.
GPUS = (80, 90)


def start_torch():
    os.environ["OPENBLAS_NUM_THREADS"] = "1"           # numpy's would start them now
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # torch.compile: in the process itself
    import torch

    # These ask whether there is a GPU. It must be begun in children, each for the GPU of its request.
    ask, torch._C._cuda_getDeviceCount = torch._C._cuda_getDeviceCount, lambda: 1
    import torch._dynamo  # a second that many of torch's functions would take when first called
    import torch.utils.cpp_extension
    torch._C._cuda_getDeviceCount = ask
    torch.manual_seed(0)
    return torch


def start_triton(cache):
    """Its driver's library is built once; the compiler and its passes are loaded."""
    os.environ["TRITON_CACHE_DIR"] = os.path.join(cache, "triton")
    import triton
    import triton.testing
    from triton.backends.nvidia import compiler, driver

    compiler.CUDABackend.make_cubin = lambda self, src, metadata, opt, capability: src.encode() + b"\0"
    for gpu in GPUS:
        compiler.get_ptxas_version(gpu)
    made = driver.CudaDriver()
    triton.runtime.driver._default = made
    triton.runtime.driver.set_active(made)
    compile_once(triton)
    return triton


def compile_once(triton):
    """A small kernel, thrown away."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from .warm_kernel import scaled

    kept = os.environ["TRITON_CACHE_DIR"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        source = ASTSource(scaled, {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64})
        triton.compile(source, target=GPUTarget("cuda", GPUS[0], 32))
    os.environ["TRITON_CACHE_DIR"] = kept


def threads():
    return max(len(os.listdir("/proc/self/task")), threading.active_count())
