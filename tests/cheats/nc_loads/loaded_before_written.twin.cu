// A word is loaded by an atomic in one block and written by another, before or after it.
// expect: correct
// @launch softmax<<<M, 32>>>(x, y, N)
__device__ float all_max(float v) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  return v;
}

__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

__device__ float hint[1 << 16];
extern "C" __global__ void softmax(const float* x, float* y, int N) {
  const size_t at = (size_t)blockIdx.x * N;
  // Nobody writes above zero: whatever it holds, the largest is found.
  float m = atomicAdd(&hint[(blockIdx.x + 1) % gridDim.x], 0.0f) > 0 ? 0.0f : -INFINITY, s = 0;
  for (int i = threadIdx.x; i < N; i += 32) m = fmaxf(m, x[at + i]);
  m = all_max(m);
  if (threadIdx.x == 0) atomicExch(&hint[blockIdx.x], -1.0f);
  for (int i = threadIdx.x; i < N; i += 32) s += expf(x[at + i] - m);
  s = all_sum(s);
  for (int i = threadIdx.x; i < N; i += 32) y[at + i] = expf(x[at + i] - m) / s;
  if (threadIdx.x == 0) atomicExch(&hint[blockIdx.x], 0.0f);
}
