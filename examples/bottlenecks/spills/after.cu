// allow_more_registers: the same kernel without the cap.
// @launch matmul<<<dim3(ceil_div(N, 64), ceil_div(M, 128)), 128>>>(A, B, C, M, N, K)
__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  __shared__ float a_tile[8][132]; // 132: a sector of A lands on 32 different banks
  __shared__ float b_tile[8][64];
  const int t = threadIdx.x;
  const int row0 = blockIdx.y * 128, col0 = blockIdx.x * 64;
  const int row = t / 8 * 8, col = t % 8 * 4; // of the thread: rows row.., columns col.. and col + 32..
  float sum[8][8] = {};
  for (int k0 = 0; k0 < K; k0 += 8) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int m = i * 16 + t / 8, k = t % 8;
      a_tile[k][m] = row0 + m < M && k0 + k < K ? A[(row0 + m) * K + k0 + k] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int k = i * 2 + t / 64, n = t % 64;
      b_tile[k][n] = k0 + k < K && col0 + n < N ? B[(k0 + k) * N + col0 + n] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float a[8], b[8];
#pragma unroll
      for (int i = 0; i < 8; i++) a[i] = a_tile[k][row + i];
#pragma unroll
      for (int i = 0; i < 8; i++) b[i] = b_tile[k][col + i % 4 + i / 4 * 32];
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) {
      const int m = row0 + row + i, n = col0 + col + j % 4 + j / 4 * 32;
      if (m < M && n < N) C[m * N + n] = sum[i][j];
    }
}
