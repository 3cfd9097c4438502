"""A CUDA extension made by torch.utils.cpp_extension as it is. It names the few headers it needs: torch's
whole set takes a compiler a minute and a half to read."""
import unittest

import torch
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


if __name__ == "__main__":
    unittest.main()
