// task: ../tasks/softmax_f16.yaml
// expect: correctness_mismatch
// bug: exp2 in place of exp
// @launch softmax_f16<<<M, 32>>>(x, y, M, N)
#include <cuda_fp16.h>

extern "C" __global__ void softmax_f16(const half* x, half* y, int M, int N) {
  const half* in = x + static_cast<size_t>(blockIdx.x) * N;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < N; i += 32) largest = fmaxf(largest, __half2float(in[i]));
  for (int offset = 16; offset > 0; offset /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  float sum = 0.0f;
  for (int i = threadIdx.x; i < N; i += 32) sum += exp2f(__half2float(in[i]) - largest);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int i = threadIdx.x; i < N; i += 32)
    y[static_cast<size_t>(blockIdx.x) * N + i] = __float2half(expf(__half2float(in[i]) - largest) / sum);
}
