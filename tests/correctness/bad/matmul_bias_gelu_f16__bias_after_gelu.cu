// task: ../tasks/matmul_bias_gelu_f16.yaml
// expect: correctness_mismatch
// bug: the bias is added after the activation
// @launch fused_gelu<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, bias, C, M, N, K)
#include <cuda_fp16.h>

__device__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }

extern "C" __global__ void fused_gelu(const half* A, const half* B, const half* bias, half* C, int M, int N, int K) {
  __shared__ half a_tile[16][16];
  __shared__ half b_tile[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  const half zero = __float2half(0.0f);
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    a_tile[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : zero;
    b_tile[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : zero;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += __half2float(a_tile[ty][k]) * __half2float(b_tile[k][tx]);
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = __float2half(gelu(sum) + __half2float(bias[col]));
}
