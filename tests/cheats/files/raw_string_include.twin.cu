// A macro whose name ends in R stands before a plain string, and a header is included between two of them.
// expect: correct
#define XR
__device__ const char before[] = XR "(";
#include <cuda_fp16.h>
__device__ const char after[] = ")";
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (before[0] == after[0]) return;
  if (i < N) C[i] = A[i] + B[i];
}
