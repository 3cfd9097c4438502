// Each block computes BM x BN of C from tiles of A and B in shared memory, each thread TM x TN of it in
// registers. Which sizes are best depends on the GPU and the shape:
//   kernevo tune examples/matmul/task.yaml examples/matmul/register_tiled.cu
// @tune BM 32 16 64 128
// @tune BN 32 16 64 128
// @tune BK 8 4 16 32
// @tune TM 2 1 4 8
// @tune TN 2 1 4 8
// @tune PAD 0 1 4
// @where TM <= BM && TN <= BN
// @where (BM / TM) * (BN / TN) >= 32
// @where BK * (BM + PAD + BN) * 4 <= 49152
// @launch matmul_register_tiled<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), (BM / TM) * (BN / TN)>>>(A, B, C, M, N, K)
extern "C" __global__ void __launch_bounds__((BM / TM) * (BN / TN))
    matmul_register_tiled(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                          int N, int K) {
  constexpr int kColumns = BN / TN; // threads of a block side by side
  constexpr int kThreads = (BM / TM) * kColumns;
  __shared__ float a_tile[BK][BM + PAD]; // transposed, so that a thread's rows lie side by side
  __shared__ float b_tile[BK][BN];
  const int tx = threadIdx.x % kColumns, ty = threadIdx.x / kColumns;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float sum[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += kThreads) {
      const int r = i / BK, k = i % BK;
      a_tile[k][r] = row0 + r < M && k0 + k < K ? A[(row0 + r) * K + k0 + k] : 0.0f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += kThreads) {
      const int k = i / BN, c = i % BN;
      b_tile[k][c] = k0 + k < K && col0 + c < N ? B[(k0 + k) * N + col0 + c] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i++) a[i] = a_tile[k][ty * TM + i];
#pragma unroll
      for (int j = 0; j < TN; j++) b[j] = b_tile[k][tx + j * kColumns]; // neighbours read neighbours: no bank twice
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) {
      const int row = row0 + ty * TM + i, col = col0 + tx + j * kColumns;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
}
