"""cuda.core on the virtual GPU: compile, link, launch, streams, events, graphs."""

import ctypes
import time

import numpy as np
import pytest
from cuda.core import Device, EventOptions, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

SCALE = """
extern "C" __global__ void scale(float* data, float factor, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= factor;
}
"""
LATCH = """
extern "C" __global__ void latch(volatile int* flag) {
  while (*flag == 0) {
  }
}
"""


@pytest.fixture
def device():
    device = Device()
    device.set_current()
    return device


def compiled(device, code, name, kind="cubin", **options):
    program = Program(code, "c++", ProgramOptions(std="c++17", arch=f"sm_{device.arch}", **options))
    return program.compile(kind, name_expressions=(name,) if kind == "cubin" else ())


def pinned(stream, count, kind):
    """Memory of the host that kernels reach, as an array."""
    from cuda.core import LegacyPinnedMemoryResource

    buffer = LegacyPinnedMemoryResource().allocate(count * np.dtype(kind).itemsize)
    at = ctypes.cast(int(buffer.handle), ctypes.POINTER(ctypes.c_byte * buffer.size))
    return buffer, np.frombuffer(at.contents, dtype=kind)


def test_what_is_said_of_the_device(device):
    assert device.name.startswith("virtual ")
    assert device.compute_capability == (8, 0)
    assert device.properties.warp_size == 32


@pytest.mark.parametrize("kind", ["ptx", "cubin"])
def test_compile_and_launch(device, kind):
    stream = device.create_stream()
    kernel = compiled(device, SCALE, "scale", kind).get_kernel("scale")
    buffer, values = pinned(stream, 100, np.float32)
    values[:] = np.arange(100)
    launch(stream, LaunchConfig(grid=4, block=32), kernel, buffer, np.float32(3), np.int32(100))
    stream.sync()
    np.testing.assert_array_equal(values, 3 * np.arange(100, dtype=np.float32))


def test_a_kernel_waits_for_the_host(device):
    stream = device.create_stream()
    kernel = compiled(device, LATCH, "latch").get_kernel("latch")
    buffer, flag = pinned(stream, 1, np.int32)
    flag[0] = 0
    launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
    event = stream.record()
    time.sleep(0.05)
    assert not event.is_done
    flag[0] = 1
    event.sync()
    assert event.is_done


def test_events_have_times(device):
    stream = device.create_stream()
    begin = stream.record(options=EventOptions(timing_enabled=True))
    end = stream.record(options=EventOptions(timing_enabled=True))
    end.sync()
    assert end - begin >= 0


def test_modules_are_linked(device):
    parts = [
        compiled(device, "extern __device__ int twice(int);\n"
                 'extern "C" __global__ void go(int* data) { *data = twice(*data); }',
                 "go", "ptx", relocatable_device_code=True),
        compiled(device, "__device__ int twice(int x) { return x + x; }", "twice", "ptx",
                 relocatable_device_code=True)]
    linked = Linker(*parts, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
    stream = device.create_stream()
    buffer, value = pinned(stream, 1, np.int32)
    value[0] = 21
    launch(stream, LaunchConfig(grid=1, block=1), linked.get_kernel("go"), buffer)
    stream.sync()
    assert value[0] == 42


def test_link_time_optimisation_is_linked_as_ptx(device):
    parts = [
        compiled(device, "extern __device__ int twice(int);\n"
                 'extern "C" __global__ void go(int* data) { *data = twice(*data); }',
                 "go", "ltoir", link_time_optimization=True),
        compiled(device, "__device__ int twice(int x) { return x + x; }", "twice", "ltoir",
                 link_time_optimization=True)]
    options = LinkerOptions(arch=f"sm_{device.arch}", link_time_optimization=True)
    linked = Linker(*parts, options=options).link("cubin")
    stream = device.create_stream()
    buffer, value = pinned(stream, 1, np.int32)
    value[0] = 4
    launch(stream, LaunchConfig(grid=1, block=1), linked.get_kernel("go"), buffer)
    stream.sync()
    assert value[0] == 8
