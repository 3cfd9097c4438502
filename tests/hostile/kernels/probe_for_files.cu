// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: correct
// It would not compile if it found anything but the toolkit.
#if __has_include("/etc/passwd") || __has_include("/proc/self/environ") || \
    __has_include("../../../../../../etc/passwd") || __has_include(<../../../../../../etc/passwd>)
#error "there are files"
#endif
#if !__has_include(<cuda_fp16.h>)
#error "there is no toolkit"
#endif
#include <cuda_fp16.h>
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
