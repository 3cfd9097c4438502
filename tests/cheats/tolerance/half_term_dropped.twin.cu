// Both terms are added in float, where the reference adds halves.
// expect: correct
// task: half_blend.yaml
#include <cuda_fp16.h>
extern "C" __global__ void blend(const __half* x, const __half* y, __half* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = __float2half(fmaf(0.00390625f, __half2float(y[i]), __half2float(x[i])));
}
