// pad_rows: one word more in a row, and a column lies across all banks.
// @launch matmul<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  __shared__ float a_tile[32][32];
  __shared__ float b_tile[32][33];  // transposed: [column][k]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.y * 32, col = blockIdx.x * 32 + tx;
  float sum[4] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
#pragma unroll
    for (int i = ty; i < 32; i += 8) {
      a_tile[i][tx] = row0 + i < M && k0 + tx < K ? A[(row0 + i) * K + k0 + tx] : 0.0f;
      b_tile[tx][i] = k0 + i < K && col < N ? B[(k0 + i) * N + col] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k++)
#pragma unroll
      for (int r = 0; r < 4; r++) sum[r] += a_tile[ty + 8 * r][k] * b_tile[tx][k];
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; r++)
    if (row0 + ty + 8 * r < M && col < N) C[(row0 + ty + 8 * r) * N + col] = sum[r];
}
