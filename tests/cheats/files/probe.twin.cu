// A header of the toolkit is included, without a question.
// expect: correct
#include <cuda_fp16.h>
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
