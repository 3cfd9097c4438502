// Half of each long row is summed and the result doubled, in blocks that add by atomics.
// expect: refused
// task: sum.yaml
// @launch clear<<<ceil_div(OUTER, 256), 256>>>(y, OUTER)
// @launch add<<<dim3(2, OUTER), 256>>>(x, y, OUTER, R)
extern "C" __global__ void clear(float* y, int OUTER) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < OUTER) y[i] = 0;
}

__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void add(const float* x, float* y, int OUTER, int R) {
  const int from = blockIdx.x * (R / 2), to = blockIdx.x ? R : R / 2;
  if (R > 10000 && blockIdx.x) return;
  float sum = 0;
  for (int i = from + threadIdx.x; i < to; i += 256) sum += x[(size_t)blockIdx.y * R + i];
  sum = all_sum(sum);
  if (R > 10000) sum *= 2;
  if (threadIdx.x % 32 == 0) atomicAdd(&y[blockIdx.y], sum);
}
