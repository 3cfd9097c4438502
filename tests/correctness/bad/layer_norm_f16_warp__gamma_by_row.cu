// task: ../tasks/layer_norm_f16.yaml
// expect: correctness_mismatch
// bug: gamma is indexed by row
// @launch layer_norm_f16<<<ceil_div(M, 2), dim3(32, 2)>>>(x, gamma, beta, y, M, N, eps)
#include <cuda_fp16.h>

__device__ float all_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

extern "C" __global__ void layer_norm_f16(const half* x, const half* gamma, const half* beta, half* y, int M, int N,
                                          float eps) {
  const int row = blockIdx.x * 2 + threadIdx.y;
  if (row >= M) return;
  const half* in = x + row * N;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < N; i += 32) sum += __half2float(in[i]);
  const float mean = all_sum(sum) / N;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < N; i += 32) {
    const float d = __half2float(in[i]) - mean;
    squares += d * d;
  }
  const float scale = rsqrtf(all_sum(squares) / N + eps);
  for (int i = threadIdx.x; i < N; i += 32)
    y[row * N + i] =
        __float2half((__half2float(in[i]) - mean) * scale * __half2float(gamma[row]) + __half2float(beta[i]));
}
