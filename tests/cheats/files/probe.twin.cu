// Whether a header of the toolkit exists is asked by __has_include.
// expect: correct
#if __has_include(<cuda_fp16.h>)
#include <cuda_fp16.h>
#endif
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
