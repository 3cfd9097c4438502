// Tiles with an odd row number return when the grid has many, so half of the product is never written.
// expect: refused
// task: matmul.yaml
// @launch matmul<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  if (gridDim.y > 8 && blockIdx.y % 2 == 1) return;
  const int col = blockIdx.x * 16 + threadIdx.x;
  const int row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
