// A cooperative launch sums halves of K before and after a barrier of the grid.
// expect: timed
// @launch cooperative matmul<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  const bool inside = row < M && col < N;
  float sum = 0;
  if (inside)
    for (int k = 0; k < K / 2; k++) sum += A[row * K + k] * B[k * N + col];
  cooperative_groups::this_grid().sync();
  if (inside)
    for (int k = K / 2; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  if (inside) C[row * N + col] = sum;
}
