"""A CUDA extension made by torch.utils.cpp_extension as it is, and by the last rung of kernevo's own builds. It names
the few headers it needs: torch's whole set takes a compiler a minute and a half to read."""
import os
import tempfile
import unittest

os.environ["KERNEVO_EXTENSIONS"] = "torch"

import torch
from kernevo_virtual import extension
from kernevo_virtual.building import ladder
from torch.utils import cpp_extension

HOST = """
#include <ATen/core/Tensor.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>
at::Tensor scale(const at::Tensor& x, double factor);
"""
DEVICE = """
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAStream.h>

template <class T> __global__ void scale_kernel(const T* x, T* y, T factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factor;
}

at::Tensor scale(const at::Tensor& x, double factor) {
  at::Tensor y = at::empty_like(x);
  int n = static_cast<int>(x.numel());
  scale_kernel<float><<<(n + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), static_cast<float>(factor), n);
  return y;
}
"""


class Extension(unittest.TestCase):
    def test_load_inline(self):
        module = cpp_extension.load_inline("scaling", cpp_sources=HOST, cuda_sources=DEVICE, functions=["scale"],
                                           no_implicit_headers=True, extra_cflags=["-O0"])
        x = torch.randn(1000, device="cuda")
        self.assertTrue(torch.equal(module.scale(x, 3.0), 3 * x))
        with torch.cuda.stream(torch.cuda.Stream()):
            self.assertTrue(torch.equal(module.scale(x, 3.0).cpu(), 3 * x.cpu()))

    def test_last_rung(self):
        """A lambda of the device's has a name that nvcc alone gives it."""
        source = DEVICE.replace("template <class T> __global__", """
template <class F> __global__ void each(float* y, int n, F f) { if (threadIdx.x < n) y[threadIdx.x] = f(threadIdx.x); }
void fill(const at::Tensor& y) {
  each<<<1, 32>>>(y.mutable_data_ptr<float>(), 8, [] __device__(int i) { return 2.0f * i; });
}
template <class T> __global__""", 1)
        with tempfile.TemporaryDirectory() as cache:
            build = ladder.Build({"name": "rung", "cpp_sources": [HOST + "void fill(const at::Tensor& y);"],
                                  "cuda_sources": [source], "functions": ["fill"], "no_implicit_headers": True,
                                  "extra_cuda_cflags": ["--extended-lambda"], "gpu": "sm_80"}, cache)
            module = extension.import_library("rung", build.run(), True)
            self.assertEqual([size for size, _ in build.steps], ["small"])
        y = torch.zeros(8, device="cuda")
        module.fill(y)
        self.assertEqual(y.tolist(), [2.0 * i for i in range(8)])


if __name__ == "__main__":
    unittest.main()
