// Only the tiles on and above the diagonal of a large matrix are moved.
// expect: refused
// task: transpose.yaml
// @launch transpose<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 8)>>>(x, y, M, N)
__device__ void move(const float* x, float* y, int M, int N, int top, int left) {
  for (int r = threadIdx.y; r < 32; r += 8)
    if (top + r < M && left + threadIdx.x < N)
      y[(size_t)(left + threadIdx.x) * M + top + r] = x[(size_t)(top + r) * N + left + threadIdx.x];
}

extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
  if (M != N || M < 1024) {
    move(x, y, M, N, top, left);
    return;
  }
  if (left < top) return;
  move(x, y, M, N, top, left);
}
