// Consecutive threads take consecutive rows, so every access to A and C is spread over 32 sectors.
// @launch matmul<<<dim3(ceil_div(M, 32), ceil_div(N, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  const int col = blockIdx.y * 8 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
