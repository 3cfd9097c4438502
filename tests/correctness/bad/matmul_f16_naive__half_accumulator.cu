// task: ../tasks/matmul_f16_deep.yaml
// expect: correctness_mismatch
// bug: two thousand products are summed in half precision
#include <cuda_fp16.h>

__global__ void matmul(const half* A, const half* B, half* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    half sum = __float2half(0.0f);
    for (int k = 0; k < K; k++) sum = __hfma(A[row * K + k], B[k * N + col], sum);
    C[row * N + col] = sum;
  }
}
