// task: ../tasks/matmul_f32.yaml
// expect: uninitialized_memory_error
// bug: the loader strides by too much and leaves holes in the tile
// @tune BM 32 64
// @tune BN 32 64
// @tune BK 8 16
// @where BM * BN <= 4096
// @launch matmul_register_blocked<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), (BM / TM) * (BN / TN)>>>(A, B, C, M, N, K)
// @tune TM 4
// @tune TN 4
constexpr int kThreads = (BM / TM) * (BN / TN);

extern "C" __global__ void __launch_bounds__(kThreads)
matmul_register_blocked(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                        int M, int N, int K) {
  __shared__ float a_tile[BK][BM];
  __shared__ float b_tile[BK][BN];
  const int tid = threadIdx.x;
  const int thread_col = tid % (BN / TN) * TN;
  const int thread_row = tid / (BN / TN) * TM;
  const int block_row = blockIdx.y * BM;
  const int block_col = blockIdx.x * BN;
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = tid; i < BM * BK; i += 2 * kThreads) {
      const int m = i / BK, k = i % BK;
      a_tile[k][m] = block_row + m < M && k0 + k < K ? A[(block_row + m) * K + k0 + k] : 0.0f;
    }
    for (int i = tid; i < BK * BN; i += kThreads) {
      const int k = i / BN, n = i % BN;
      b_tile[k][n] = k0 + k < K && block_col + n < N ? B[(k0 + k) * N + block_col + n] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i++) a[i] = a_tile[k][thread_row + i];
#pragma unroll
      for (int j = 0; j < TN; j++) b[j] = b_tile[k][thread_col + j];
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; i++) {
    const int row = block_row + thread_row + i;
    for (int j = 0; j < TN; j++) {
      const int col = block_col + thread_col + j;
      if (row < M && col < N) C[row * N + col] = acc[i][j];
    }
  }
}
