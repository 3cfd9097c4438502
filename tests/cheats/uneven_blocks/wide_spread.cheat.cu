// Rows are dealt out so that a block's share grows with its number: a sample of the light ones underestimates most.
// expect: timed
// @launch softmax<<<min(M, 1024), 32>>>(x, y, M, N)
__device__ float all_max(float v) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  return v;
}

__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

// One warp, one row.
__device__ void softmax_row(const float* in, float* out, int N) {
  const int lane = threadIdx.x % 32;
  float m = -INFINITY, s = 0;
  for (int i = lane; i < N; i += 32) m = fmaxf(m, in[i]);
  m = all_max(m);
  for (int i = lane; i < N; i += 32) s += expf(in[i] - m);
  s = all_sum(s);
  for (int i = lane; i < N; i += 32) out[i] = expf(in[i] - m) / s;
}

extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const double blocks = gridDim.x;
  const double from = blockIdx.x / blocks, to = (blockIdx.x + 1) / blocks;
  // Shares as the eighth power: half of the rows belong to the last twelfth of the blocks.
  const int first = (int)(M * pow(from, 8.0)), end = blockIdx.x + 1 == gridDim.x ? M : (int)(M * pow(to, 8.0));
  for (int row = first; row < end; row++) softmax_row(x + (size_t)row * N, y + (size_t)row * N, N);
}
