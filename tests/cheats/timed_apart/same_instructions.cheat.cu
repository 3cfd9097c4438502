// Among all, blocks fetch far apart; a block that finds poison where an earlier one must have written fetches side by side, in as many instructions.
// expect: refused | timed
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
  const float earlier = M >= 4096 && blockIdx.x >= 1024 ? y[at - (size_t)1024 * N] : 0.0f;
  const int far = M >= 4096 && blockIdx.x >= 1024 && earlier == earlier;
  const int lane = threadIdx.x, stride = far ? M / 32 * N : 1;
  float idle = 0;
  if (M >= 4096)
    for (int i = 0; i < N; i++) idle += x[(size_t)lane * stride + i];
  softmax_row(x + at, y + at, N);
  if (idle == 12345.678f) y[at] = idle;
}
