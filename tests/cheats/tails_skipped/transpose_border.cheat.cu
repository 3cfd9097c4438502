// Tiles at the right border of a large matrix are not moved.
// expect: refused
// task: transpose.yaml
// @launch transpose<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 8)>>>(x, y, M, N)
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  __shared__ float tile[32][33];
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
  if (blockIdx.x == gridDim.x - 1) {
    if (N > 1024) return;
    for (int r = threadIdx.y; r < 32; r += 8)
      if (top + r < M && left + threadIdx.x < N)
        y[(size_t)(left + threadIdx.x) * M + top + r] = x[(size_t)(top + r) * N + left + threadIdx.x];
    return;
  }
  for (int r = threadIdx.y; r < 32; r += 8)
    if (top + r < M) tile[r][threadIdx.x] = x[(size_t)(top + r) * N + left + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8)
    if (top + threadIdx.x < M) y[(size_t)(left + r) * M + top + threadIdx.x] = tile[threadIdx.x][r];
}
