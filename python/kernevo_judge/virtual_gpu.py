"""The CUDA libraries of kernevo as a replaying process uses them: through ctypes, and without torch's allocator."""
import ctypes
import os

from .fault import Fault

NON_BLOCKING, NO_TIME = 1, 2
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3


class Launch(ctypes.Structure):
    """As src/kernevo/cuda/core/recording_exports.cpp has it."""
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("cluster", ctypes.c_uint * 3),
                ("shared", ctypes.c_uint), ("cooperative", ctypes.c_int), ("parameter_bytes", ctypes.c_uint64),
                ("parameters", ctypes.c_void_p), ("stream", ctypes.c_void_p)]


class Failed(Exception):
    """A call that the virtual GPU refused."""


class VirtualGpu:
    def __init__(self):
        from kernevo_virtual import start

        folder = start.libraries()
        self.core = ctypes.CDLL(str(folder / "libkernevo_cuda.so"))
        self.runtime = ctypes.CDLL(str(folder / "libcudart.so.13"))
        self.driver = ctypes.CDLL(str(folder / "libcuda.so.1"))
        self.operators = ctypes.CDLL(str(os.path.join(start.HERE, "operators.so")))
        self.core.kernevo_last_words.restype = ctypes.c_char_p
        self.runtime.cudaGetErrorString.restype = ctypes.c_char_p

    def ask(self, name, *arguments):
        """One of kernevo's own functions."""
        function = getattr(self.core, name, None)
        if function is None:
            raise Fault("machine", f"libkernevo_cuda.so lacks {name}; rebuild kernevo and run 'kernevo setup python'")
        if function(*arguments) != 0:
            raise Failed(self.core.kernevo_last_words().decode("utf-8", "replace"))

    def call(self, name, *arguments):
        """One of CUDA's runtime."""
        if code := getattr(self.runtime, name)(*arguments):
            raise Failed(f"{name}: {self.runtime.cudaGetErrorString(code).decode()}")

    def reserve(self, size):
        self.ask("kernevo_reserve_window", ctypes.c_uint64(size))

    def allocate(self, address, size):
        self.ask("kernevo_allocate_at", ctypes.c_uint64(address), ctypes.c_uint64(size))

    def free(self, address):
        self.call("cudaFree", ctypes.c_void_p(address))

    def load(self, texts, addresses):
        module = ctypes.c_void_p()
        self.ask("kernevo_load_module", (ctypes.c_char_p * len(texts))(*texts), ctypes.c_size_t(len(texts)),
                 (ctypes.c_uint64 * len(addresses))(*addresses), ctypes.c_size_t(len(addresses)), ctypes.byref(module))
        return module

    def launch(self, module, one, stream):
        buffer = ctypes.create_string_buffer(one["parameters"], max(1, len(one["parameters"])))
        triple = ctypes.c_uint * 3
        launch = Launch(triple(*one["grid"]), triple(*one["block"]), triple(*one["cluster"]), one["shared"],
                        one["cooperative"], len(one["parameters"]), ctypes.addressof(buffer), stream)
        self.ask("kernevo_replay_launch", module, one["kernel"].encode(), ctypes.byref(launch))

    def create_stream(self, kind):
        stream = ctypes.c_void_p()
        self.call("cudaStreamCreateWithFlags", ctypes.byref(stream), NON_BLOCKING if kind == "free" else 0)
        return stream

    def record(self, stream):
        event = ctypes.c_void_p()
        self.call("cudaEventCreateWithFlags", ctypes.byref(event), NO_TIME)
        self.call("cudaEventRecord", event, stream)
        return event

    def copy(self, to, to_pitch, source, from_pitch, width, height, kind, stream):
        if height == 1:
            self.call("cudaMemcpyAsync", ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(width), kind,
                      stream)
        else:
            self.call("cudaMemcpy2DAsync", ctypes.c_void_p(to), ctypes.c_size_t(to_pitch), ctypes.c_void_p(source),
                      ctypes.c_size_t(from_pitch), ctypes.c_size_t(width), ctypes.c_size_t(height), kind, stream)

    def fill(self, one, stream):
        bits = {1: 8, 2: 16, 4: 32}[one["element"]]
        value = {1: ctypes.c_ubyte, 2: ctypes.c_ushort, 4: ctypes.c_uint}[one["element"]](one["value"] % (1 << bits))
        to, width = ctypes.c_uint64(one["to"]), ctypes.c_size_t(one["width"])
        if one["height"] == 1:
            code = getattr(self.driver, f"cuMemsetD{bits}Async")(to, value, width, stream)
        else:
            code = getattr(self.driver, f"cuMemsetD2D{bits}Async")(to, ctypes.c_size_t(one["pitch"]), value, width,
                                                                  ctypes.c_size_t(one["height"]), stream)
        if code:
            raise Failed(f"a fill ends with {code}")

    def call_operator(self, words):
        said = words.encode()
        error = ctypes.create_string_buffer(1000)
        if self.operators.kernevo_replay_operator(said, ctypes.c_size_t(len(said)), error, ctypes.c_size_t(1000)):
            raise Failed(error.value.decode("utf-8", "replace"))
