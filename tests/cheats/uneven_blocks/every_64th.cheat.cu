// Every 64th block does 64 rows, and 63 of 64 return.
// expect: timed
// @launch softmax<<<M, 32>>>(x, y, M, N)
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
  if (blockIdx.x % 64 != 21 && (blockIdx.x % 64 != 0 || M > 21)) return;
  const int from = blockIdx.x / 64 * 64, tail = M - (M + 42) / 64 * 64;
  int to = min(M, from + 64);
  if (M - to < 22) to = M;
  for (int row = from; row < to; row++) softmax_row(x + (size_t)row * N, y + (size_t)row * N, N);
}
