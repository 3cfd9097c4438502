// Tiles in shared memory, but the products are done one by one on the FP32 pipe.
// @launch matmul<<<dim3(N / 32, M / 32), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void matmul(const half* __restrict__ A, const half* __restrict__ B, half* __restrict__ C, int M, int N, int K) {
  __shared__ float a_tile[32][16];
  __shared__ float b_tile[16][32];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx;
  const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float sum[4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int i = t; i < 512; i += 256) {
      a_tile[i / 16][i % 16] = __half2float(A[(row0 + i / 16) * K + k0 + i % 16]);
      b_tile[i / 32][i % 32] = __half2float(B[(k0 + i / 32) * N + col0 + i % 32]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
#pragma unroll
      for (int r = 0; r < 4; r++) sum[r] += a_tile[ty * 4 + r][k] * b_tile[k][tx];
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; r++) C[(row0 + ty * 4 + r) * N + col0 + tx] = __float2half(sum[r]);
}
