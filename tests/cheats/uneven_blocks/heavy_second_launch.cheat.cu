// A first launch with many light blocks, and a second in which one of as many does all rows.
// expect: timed
// @launch light<<<M, 32>>>(x, y, M, N)
// @launch heavy<<<M, 128>>>(x, y, M, N)
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

extern "C" __global__ void light(const float* x, float* y, int M, int N) {
  if (threadIdx.x == 0) y[(size_t)blockIdx.x * N] = x[(size_t)blockIdx.x * N];
}

extern "C" __global__ void heavy(const float* x, float* y, int M, int N) {
  if (blockIdx.x != min(M - 1, 777)) return;
  for (int row = threadIdx.x / 32; row < M; row += 4) softmax_row(x + (size_t)row * N, y + (size_t)row * N, N);
}
