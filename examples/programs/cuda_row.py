"""One CUDA block a row; the sum of squares is put together in shared memory."""
import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <torch/extension.h>

__global__ void rms_norm(const float* x, const float* weight, float* out, int features, float epsilon) {
  __shared__ float sums[8];
  const float* row = x + static_cast<long>(blockIdx.x) * features;
  float sum = 0;
  for (int i = threadIdx.x; i < features; i += blockDim.x) sum += row[i] * row[i];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(0xffffffff, sum, lane);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int warp = 0; warp < 8; ++warp) sum += sums[warp];
  const float scale = rsqrtf(sum / features + epsilon);
  for (int i = threadIdx.x; i < features; i += blockDim.x)
    out[static_cast<long>(blockIdx.x) * features + i] = row[i] * scale * weight[i];
}

torch::Tensor run(torch::Tensor x, torch::Tensor weight, double epsilon) {
  auto out = torch::empty_like(x);
  rms_norm<<<x.size(0), 256>>>(x.data_ptr<float>(), weight.data_ptr<float>(), out.data_ptr<float>(), x.size(1),
                               epsilon);
  return out;
}
"""
extension = load_inline(
    name="rms_norm", cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor weight, double epsilon);",
    cuda_sources=SOURCE, functions=["run"])


class ModelNew(nn.Module):
    def __init__(self, features, epsilon=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features) + 0.1 * torch.randn(features))
        self.epsilon = epsilon

    def forward(self, x):
        return extension.run(x, self.weight, self.epsilon)
