// Blocks draw rows from a queue, and the first to come takes nearly all of them at one go.
// expect: timed
// @launch reset<<<1, 1>>>()
// @launch softmax<<<min(M, 512), 32>>>(x, y, M, N)
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

__device__ int head;
extern "C" __global__ void reset() {
  head = 0;
}

extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const int share = max(1, M * 3 / 4);
  for (;;) {
    int from = 0;
    if (threadIdx.x == 0) from = atomicAdd(&head, share);
    from = __shfl_sync(~0u, from, 0);
    if (from >= M) return;
    for (int row = from; row < min(M, from + share); row++) softmax_row(x + (size_t)row * N, y + (size_t)row * N, N);
  }
}
