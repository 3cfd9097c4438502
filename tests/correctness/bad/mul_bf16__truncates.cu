// task: ../tasks/mul_bf16.yaml
// expect: correctness_mismatch
// bug: the low four bits of the result are dropped
// @launch mul_bf16<<<ceil_div(N, 256), 256>>>(A, B, C, N)
#include <cuda_bf16.h>

extern "C" __global__ void mul_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = __ushort_as_bfloat16((__float_as_uint(__bfloat162float(A[i]) * __bfloat162float(B[i])) >> 16) & 0xfff0);
}
