// task: ../tasks/rms_norm_bf16.yaml
// expect: race_or_sync_error
// bug: the tree starts before all have stored
// @launch rms_norm_bf16<<<M, 64>>>(x, gamma, y, M, N, eps)
#include <cuda_bf16.h>

extern "C" __global__ void rms_norm_bf16(const __nv_bfloat16* x, const __nv_bfloat16* gamma, __nv_bfloat16* y, int M,
                                         int N, float eps) {
  __shared__ float part[64];
  const int tid = threadIdx.x;
  const __nv_bfloat16* in = x + static_cast<size_t>(blockIdx.x) * N;
  float squares = 0.0f;
  for (int i = tid; i < N; i += 64) {
    const float v = __bfloat162float(in[i]);
    squares += v * v;
  }
  part[tid] = squares;
  for (int half = 32; half > 0; half /= 2) {
    if (tid < half) part[tid] += part[tid + half];
    __syncthreads();
  }
  const float scale = rsqrtf(part[0] / N + eps);
  for (int i = tid; i < N; i += 64)
    y[static_cast<size_t>(blockIdx.x) * N + i] =
        __float2bfloat16(__bfloat162float(in[i]) * scale * __bfloat162float(gamma[i]));
}
