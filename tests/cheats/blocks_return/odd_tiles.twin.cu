// Tiles with an odd row number return: the tile above does both.
// expect: correct
// task: matmul.yaml
// @launch matmul<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  if (blockIdx.y % 2 == 1) return;
  const int col = blockIdx.x * 16 + threadIdx.x;
  for (int half = 0; half < 2; half++) {
    const int row = (blockIdx.y + half) * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}
