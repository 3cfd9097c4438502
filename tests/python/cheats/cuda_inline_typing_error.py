# verdict: semantic_compile_error
# A compiler's error.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <torch/extension.h>

__global__ void scaled_relu(const float* x, const float* weight, float* out, int n, int features) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(y[i] * weight[i % features], 0.0f);
}

torch::Tensor run(torch::Tensor x, torch::Tensor weight) {
  auto out = torch::empty_like(x);
  int n = x.numel();
  scaled_relu<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), weight.data_ptr<float>(), out.data_ptr<float>(), n,
                                        weight.numel());
  return out;
}
"""
extension = load_inline(name="scaled_relu", cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor weight);",
                        cuda_sources=SOURCE, functions=["run"])


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return extension.run(x, self.weight)
