// The smaller of two terms is left out, and with it half of the reads.
// expect: refused
// task: half_blend.yaml
#include <cuda_fp16.h>
extern "C" __global__ void blend(const __half* x, const __half* y, __half* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = x[i];
}
