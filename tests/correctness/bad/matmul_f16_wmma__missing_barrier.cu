// task: ../tasks/matmul_f16.yaml
// expect: race_or_sync_error
// bug: fragments are loaded from half-filled tiles
// @launch matmul_wmma<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), 128>>>(A, B, C, M, N, K)
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void matmul_wmma(const half* __restrict__ A, const half* __restrict__ B,
                                       half* __restrict__ C, int M, int N, int K) {
  __shared__ __align__(32) half a_tile[32][16];
  __shared__ __align__(32) half b_tile[16][32];
  __shared__ __align__(32) float c_tile[32][32];
  const int tid = threadIdx.x, warp = tid / 32;
  const int warp_row = warp / 2 * 16, warp_col = warp % 2 * 16;
  const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  const half zero = __float2half(0.0f);
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int i = tid; i < 32 * 16; i += 128) {
      const int r = i / 16, c = i % 16;
      a_tile[r][c] = row0 + r < M && k0 + c < K ? A[(row0 + r) * K + k0 + c] : zero;
    }
    for (int i = tid; i < 16 * 32; i += 128) {
      const int r = i / 32, c = i % 32;
      b_tile[r][c] = k0 + r < K && col0 + c < N ? B[(k0 + r) * N + col0 + c] : zero;
    }
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::load_matrix_sync(a, &a_tile[warp_row][0], 16);
    wmma::load_matrix_sync(b, &b_tile[0][warp_col], 32);
    wmma::mma_sync(acc, a, b, acc);
    __syncthreads();
  }
  wmma::store_matrix_sync(&c_tile[warp_row][warp_col], acc, 32, wmma::mem_row_major);
  __syncthreads();
  for (int i = tid; i < 32 * 32; i += 128) {
    const int r = i / 32, c = i % 32;
    if (row0 + r < M && col0 + c < N) C[(row0 + r) * N + col0 + c] = __float2half(c_tile[r][c]);
  }
}
