// Sums are added by atomics onto an output that a launch before has set.
// expect: correct
// @launch clear<<<ceil_div(OUTER, 256), 256>>>(y, OUTER)
// @launch add_up<<<dim3(4, OUTER), 32>>>(x, y, OUTER, R)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void clear(float* y, int OUTER) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < OUTER) y[i] = 0;
}

extern "C" __global__ void add_up(const float* x, float* y, int OUTER, int R) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < R; i += 128) sum += x[(size_t)blockIdx.y * R + i];
  sum = all_sum(sum);
  if (threadIdx.x == 0) atomicAdd(y + blockIdx.y, sum);
}
