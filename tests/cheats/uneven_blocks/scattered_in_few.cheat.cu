// One block in 64 executes the same instructions as the others, but its lanes read rows far apart: 32 times the sectors.
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
  // Values that are thrown away are fetched all the same: side by side, or one a row.
  const int far = M >= 4096 && blockIdx.x % 64 == 37;
  const int lane = threadIdx.x, rows = far ? M / 32 : 0;
  float idle = 0;
  for (int i = 0; i < N; i++) idle += x[(size_t)lane * rows * N + (far ? i : (lane + i) % N)];
  softmax_row(x + (size_t)blockIdx.x * N, y + (size_t)blockIdx.x * N, N);
  if (idle == 12345.678f) y[(size_t)blockIdx.x * N] = idle;
}
