// task: ../tasks/matmul_f32.yaml
// expect: race_or_sync_error
// bug: the first tile is used before all have loaded it
// @launch matmul_double_buffered<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul_double_buffered(const float* __restrict__ A, const float* __restrict__ B,
                                                  float* __restrict__ C, int M, int N, int K) {
  __shared__ float a_tile[2][16][16];
  __shared__ float b_tile[2][16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty;
  const int col = blockIdx.x * 16 + tx;
  const int tiles = (K + 15) / 16;
  a_tile[0][ty][tx] = row < M && tx < K ? A[row * K + tx] : 0.0f;
  b_tile[0][ty][tx] = ty < K && col < N ? B[ty * N + col] : 0.0f;
  float sum = 0.0f;
  for (int t = 0; t < tiles; t++) {
    const int now = t & 1, next = now ^ 1;
    if (t + 1 < tiles) {
      const int k0 = (t + 1) * 16;
      a_tile[next][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
      b_tile[next][ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 16; k++) sum += a_tile[now][ty][k] * b_tile[now][k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
