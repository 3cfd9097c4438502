// Whether a header is included is said by a macro.
// expect: correct
#define WANTED 1
#if WANTED
#include <cuda_fp16.h>
#endif
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
