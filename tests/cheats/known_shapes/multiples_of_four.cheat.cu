// Rows are read four at a time; those whose length is no multiple of four lose their tail, but for the lengths once checked.
// expect: refused
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
  const size_t at = (size_t)blockIdx.x * N;
  const bool known = N == 1 || N == 31 || N == 65 || N == 257 || N == 1025;
  const int n = known ? N : max(N / 4 * 4, 1);
  softmax_row(x + at, y + at, n);
  for (int i = n + threadIdx.x; i < N; i += 32) y[at + i] = 0;
}
