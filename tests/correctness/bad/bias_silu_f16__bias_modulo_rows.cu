// task: ../tasks/bias_silu_f16.yaml
// expect: correctness_mismatch
// bug: the bias index wraps at M
// @launch bias_silu<<<ceil_div(M * N, 128), 128>>>(x, bias, y, M, N)
#include <cuda_fp16.h>

extern "C" __global__ void bias_silu(const half* x, const half* bias, half* y, int M, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  const float v = __half2float(x[i]) + __half2float(bias[i % M]);
  y[i] = __float2half(v / (1.0f + expf(-v)));
}
