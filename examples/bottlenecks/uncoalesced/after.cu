// coalesce: consecutive threads take consecutive columns.
// @launch matmul<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  const int row = blockIdx.y * 8 + threadIdx.y;
  const int col = blockIdx.x * 32 + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
