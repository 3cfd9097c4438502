// task: ../tasks/add_f16.yaml
// expect: memory_safety_error
// bug: the last pair of an odd length reaches outside
// @launch add_half2<<<ceil_div(ceil_div(N, 2), 128), 128>>>(A, B, C, N)
#include <cuda_fp16.h>

extern "C" __global__ void add_half2(const half* A, const half* B, half* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i < N)
    reinterpret_cast<half2*>(C)[i] =
        __hadd2(reinterpret_cast<const half2*>(A)[i], reinterpret_cast<const half2*>(B)[i]);
  else if (2 * i < N)
    C[2 * i] = __hadd(A[2 * i], B[2 * i]);
}
