// task: ../tasks/matmul_f16_deep.yaml
// expect: correctness_mismatch
// bug: half data is read as bfloat16
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void matmul(const __nv_bfloat16* A, const __nv_bfloat16* B, half* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += __bfloat162float(A[row * K + k]) * __bfloat162float(B[k * N + col]);
    C[row * N + col] = __float2half(sum);
  }
}
