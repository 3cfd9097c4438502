// Scratch holds two numbers a row between two launches.
// expect: correct
// @scratch stats float [M * 2]
// @launch measure<<<M, 32>>>(x, stats, N)
// @launch write<<<M, 32>>>(x, stats, y, N)
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

extern "C" __global__ void measure(const float* x, float* stats, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < N; i += 32) m = fmaxf(m, in[i]);
  m = all_max(m);
  for (int i = threadIdx.x; i < N; i += 32) s += expf(in[i] - m);
  s = all_sum(s);
  if (threadIdx.x == 0) stats[2 * blockIdx.x] = m, stats[2 * blockIdx.x + 1] = s;
}

extern "C" __global__ void write(const float* x, const float* stats, float* y, int N) {
  const size_t at = (size_t)blockIdx.x * N;
  for (int i = threadIdx.x; i < N; i += 32) y[at + i] = expf(x[at + i] - stats[2 * blockIdx.x]) / stats[2 * blockIdx.x + 1];
}
