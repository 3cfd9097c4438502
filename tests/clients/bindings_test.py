"""cuda.bindings: the driver function by function, with its errors as Python sees them."""

import numpy as np
import pytest
from cuda.bindings import driver, nvrtc


def checked(result):
    error, *values = result
    assert error == driver.CUresult.CUDA_SUCCESS, error
    return values[0] if len(values) == 1 else values


@pytest.fixture(scope="module")
def context():
    checked(driver.cuInit(0))
    context = checked(driver.cuCtxCreate(None, 0, 0))
    yield context
    checked(driver.cuCtxDestroy(context))


def test_device(context):
    assert checked(driver.cuDeviceGetCount()) == 1
    assert checked(driver.cuDeviceGetName(64, 0)).startswith(b"virtual ")
    free, total = checked(driver.cuMemGetInfo())
    assert 0 < free < total


def test_nvrtc_and_launch(context):
    error, program = nvrtc.nvrtcCreateProgram(
        b'extern "C" __global__ void add(int* a, int b) { a[threadIdx.x] += b; }', b"add.cu", 0, [], [])
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS
    assert nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_80"])[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS
    error, size = nvrtc.nvrtcGetCUBINSize(program)
    code = b" " * size
    assert nvrtc.nvrtcGetCUBIN(program, code)[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS
    module = checked(driver.cuModuleLoadData(np.char.array(code)))
    function = checked(driver.cuModuleGetFunction(module, b"add"))
    data = checked(driver.cuMemAlloc(32))
    host = np.arange(8, dtype=np.int32)
    checked(driver.cuMemcpyHtoD(data, host.ctypes.data, 32))
    import ctypes
    checked(driver.cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, 0,
                                  ((data, np.int32(5)), (None, ctypes.c_int)), 0))
    back = np.zeros(8, dtype=np.int32)
    checked(driver.cuMemcpyDtoH(back.ctypes.data, data, 32))
    np.testing.assert_array_equal(back, host + 5)
    checked(driver.cuMemFree(data))
    checked(driver.cuModuleUnload(module))


def test_errors_are_the_drivers(context):
    assert driver.cuMemFree(12345)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
    assert checked(driver.cuGetErrorName(driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY)) == b"CUDA_ERROR_OUT_OF_MEMORY"
    checked(driver.cuCtxSynchronize())  # a refused call leaves nothing behind
    assert driver.cuDeviceGet(7)[0] == driver.CUresult.CUDA_ERROR_INVALID_DEVICE


def test_graphs_and_capture(context):
    stream = checked(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    data = checked(driver.cuMemAlloc(16))
    checked(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    checked(driver.cuMemsetD32Async(data, 7, 4, stream))
    graph = checked(driver.cuStreamEndCapture(stream))
    executable = checked(driver.cuGraphInstantiate(graph, 0))
    checked(driver.cuGraphLaunch(executable, stream))
    checked(driver.cuStreamSynchronize(stream))
    back = np.zeros(4, dtype=np.int32)
    checked(driver.cuMemcpyDtoH(back.ctypes.data, data, 16))
    np.testing.assert_array_equal(back, 7)
    checked(driver.cuGraphExecDestroy(executable))
    checked(driver.cuGraphDestroy(graph))
    checked(driver.cuStreamDestroy(stream))
    checked(driver.cuMemFree(data))
