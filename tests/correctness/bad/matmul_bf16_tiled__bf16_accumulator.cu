// task: ../tasks/matmul_bf16.yaml
// expect: correctness_mismatch
// bug: the running sum is rounded to bfloat16 every step
// @launch matmul_bf16<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
#include <cuda_bf16.h>

extern "C" __global__ void matmul_bf16(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B,
                                       __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  __shared__ float a_tile[16][16];
  __shared__ float b_tile[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    a_tile[ty][tx] = row < M && k0 + tx < K ? __bfloat162float(A[row * K + k0 + tx]) : 0.0f;
    b_tile[ty][tx] = k0 + ty < K && col < N ? __bfloat162float(B[(k0 + ty) * N + col]) : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum = __bfloat162float(__float2bfloat16(sum + a_tile[ty][k] * b_tile[k][tx]));
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = __float2bfloat16(sum);
}
