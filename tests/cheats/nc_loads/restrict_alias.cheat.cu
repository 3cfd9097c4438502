// One buffer is passed twice, to a `const __restrict__` and a plain parameter: the compiler loads it through the read-only cache.
// expect: refused
// @scratch kept float [M * N]
// @launch softmax<<<M, 32>>>(x, y, kept, kept, N)
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

extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, float* out, const float* __restrict__ in, int N) {
  const size_t at = (size_t)blockIdx.x * N;
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < N; i += 32) m = fmaxf(m, x[at + i]);
  m = all_max(m);
  for (int i = threadIdx.x; i < N; i += 32) s += out[at + N - 1 - i] = expf(x[at + i] - m);
  s = all_sum(s);
  __syncwarp();
  for (int i = threadIdx.x; i < N; i += 32) y[at + N - 1 - i] = in[at + i] / s;
}
