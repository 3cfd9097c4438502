// The mean of many random numbers is taken to be zero.
// expect: refused
// task: mean.yaml
// @launch mean<<<OUTER, 32>>>(x, y, OUTER, R)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void mean(const float* x, float* y, int OUTER, int R) {
  float sum = 0;
  if (R < 10000)
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  sum = all_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum / R;
}
