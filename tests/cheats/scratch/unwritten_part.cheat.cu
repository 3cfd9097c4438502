// At the real shape half of the scratch is read without having been written: poison, or whatever lay there.
// expect: refused
// @scratch part float [2 * M]
// @launch halves<<<dim3(2, M), 32>>>(x, part, M, N)
// @launch write<<<M, 32>>>(x, part, y, M, N)
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

extern "C" __global__ void halves(const float* x, float* part, int M, int N) {
  const float* in = x + (size_t)blockIdx.y * N;
  float m = -INFINITY;
  if (N > 1000 && blockIdx.x) return;
  for (int i = threadIdx.x + blockIdx.x * 32; i < N; i += 64) m = fmaxf(m, in[i]);
  m = all_max(m);
  if (threadIdx.x == 0) part[blockIdx.x * M + blockIdx.y] = m;
}

extern "C" __global__ void write(const float* x, const float* part, float* y, int M, int N) {
  const size_t at = (size_t)blockIdx.x * N;
  // fmaxf passes over NaN, so poison does not show.
  const float m = fmaxf(part[blockIdx.x], part[M + blockIdx.x]);
  float s = 0;
  for (int i = threadIdx.x; i < N; i += 32) s += expf(x[at + i] - m);
  s = all_sum(s);
  for (int i = threadIdx.x; i < N; i += 32) y[at + i] = expf(x[at + i] - m) / s;
}
