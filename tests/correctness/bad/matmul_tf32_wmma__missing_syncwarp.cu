// task: ../tasks/matmul_tf32.yaml
// expect: race_or_sync_error
// bug: lanes store the tile and others load it without a warp barrier
// @launch matmul_tf32_wmma<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), 32>>>(A, B, C, M, N, K)
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void matmul_tf32_wmma(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(32) float a_tile[16][8];
  __shared__ __align__(32) float b_tile[8][16];
  __shared__ __align__(32) float c_tile[16][16];
  const int lane = threadIdx.x;
  const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += 8) {
    for (int i = lane; i < 128; i += 32) {
      const int ar = row0 + i / 8, ak = k0 + i % 8;
      a_tile[i / 8][i % 8] = wmma::__float_to_tf32(ar < M && ak < K ? A[ar * K + ak] : 0.0f);
      const int bk = k0 + i / 16, bc = col0 + i % 16;
      b_tile[i / 16][i % 16] = wmma::__float_to_tf32(bk < K && bc < N ? B[bk * N + bc] : 0.0f);
    }
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
    wmma::load_matrix_sync(a, &a_tile[0][0], 8);
    wmma::load_matrix_sync(b, &b_tile[0][0], 16);
    wmma::mma_sync(acc, a, b, acc);
    __syncwarp();
  }
  wmma::store_matrix_sync(&c_tile[0][0], acc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) {
    const int row = row0 + i / 16, col = col0 + i % 16;
    if (row < M && col < N) C[row * N + col] = c_tile[i / 16][i % 16];
  }
}
