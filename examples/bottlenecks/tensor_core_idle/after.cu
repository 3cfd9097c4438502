// use_mma: tiles staged in shared memory, each warp multiplies 32 x 32 with tensor cores, summing in float.
// @launch matmul<<<dim3(N / 64, M / 64), 128>>>(A, B, C, M, N, K)
using namespace nvcuda;
__global__ void matmul(const half* __restrict__ A, const half* __restrict__ B, half* __restrict__ C, int M, int N, int K) {
  __shared__ __align__(16) half a_tile[64][24]; // rows of 48 and 144 bytes: consecutive rows lie on different banks
  __shared__ __align__(16) half b_tile[16][72];
  const int t = threadIdx.x, warp = t / 32;
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  const int row = warp / 2 * 32, col = warp % 2 * 32; // of the warp, in the tile
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& line : sum)
    for (auto& tile : line) wmma::fill_fragment(tile, 0.0f);
  for (int k = 0; k < K; k += 16) {
    // Eight elements, 16 bytes, per thread and tile.
    *(uint4*)&a_tile[t / 2][t % 2 * 8] = *(const uint4*)(A + (row0 + t / 2) * K + k + t % 2 * 8);
    *(uint4*)&b_tile[t / 8][t % 8 * 8] = *(const uint4*)(B + (k + t / 8) * N + col0 + t % 8 * 8);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      wmma::load_matrix_sync(a[i], &a_tile[row + 16 * i][0], 24);
      wmma::load_matrix_sync(b[i], &b_tile[0][col + 16 * i], 72);
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < 2; j++) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 2; j++) {
      wmma::fragment<wmma::accumulator, 16, 16, 16, half> rounded;
#pragma unroll
      for (int e = 0; e < rounded.num_elements; e++) rounded.x[e] = __float2half(sum[i][j].x[e]);
      wmma::store_matrix_sync(C + (row0 + row + 16 * i) * N + col0 + col + 16 * j, rounded, N, wmma::mem_row_major);
    }
}
