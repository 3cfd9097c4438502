// A block with a rare first value in its row does three thousand idle turns: a matter of the inputs, and of which blocks are counted.
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
  const float* in = x + (size_t)blockIdx.x * N;
  if (M >= 4096 && in[0] > 1.5f) {
    float v = in[1];
    for (int turn = 0; turn < 3000; turn++) v = fmaf(v, 0.5f, in[turn % 512]);
    if (v == 12345.678f) return;
  }
  softmax_row(in, y + (size_t)blockIdx.x * N, N);
}
