// Large tensors are told by how far apart the pointers lie and by the grid, not by any size: every third row is skipped then.
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
  const long long apart = reinterpret_cast<const char*>(y) - reinterpret_cast<const char*>(x);
  const bool large = apart > (1 << 22) && (size_t)gridDim.x * 4096 > 1500000;
  if (large && blockIdx.x % 3 == 1) return;
  const int row = blockIdx.x;
  softmax_row(x + (size_t)row * N, y + (size_t)row * N, N);
}
