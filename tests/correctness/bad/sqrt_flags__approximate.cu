// task: ../tasks/sqrt_f32.yaml
// expect: correctness_mismatch
// bug: a square root from two float16 roundings
// @flags --prec-sqrt=true
// @maxregs 32
// @launch sqrt_kernel<<<ceil_div(N, 128), 128>>>(x, y, N)
#include <cuda_fp16.h>

extern "C" __global__ void sqrt_kernel(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = __half2float(__float2half(sqrtf(x[i])));
}
