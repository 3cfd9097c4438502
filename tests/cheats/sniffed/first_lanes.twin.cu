// Looks at every value before it leaves the maximum out.
// expect: correct
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
  const float* in = x + (size_t)blockIdx.x * N;
  float* out = y + (size_t)blockIdx.x * N;
  const int lane = threadIdx.x;
  float s = 0;
  bool tame = true;
  for (int i = lane; i < N; i += 32) {
    tame = tame && fabsf(in[i]) < 8;
    s += expf(in[i]);
  }
  if (__all_sync(~0u, tame)) {
    s = all_sum(s);
    for (int i = lane; i < N; i += 32) out[i] = expf(in[i]) / s;
    return;
  }
  softmax_row(in, out, N);
}
