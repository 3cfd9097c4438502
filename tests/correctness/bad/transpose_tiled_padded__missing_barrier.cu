// task: ../tasks/transpose_f32.yaml
// expect: race_or_sync_error
// bug: the tile is read before it is complete
// @launch transpose<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 8)>>>(x, y, M, N)
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  __shared__ float tile[32][33];
  const int col = blockIdx.x * 32 + threadIdx.x;
  const int row0 = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += 8)
    if (row0 + j < M && col < N) tile[j][threadIdx.x] = x[(row0 + j) * N + col];
  const int out_col = row0 + threadIdx.x;
  const int out_row0 = blockIdx.x * 32;
  for (int j = threadIdx.y; j < 32; j += 8)
    if (out_row0 + j < N && out_col < M) y[(out_row0 + j) * M + out_col] = tile[threadIdx.x][j];
}
