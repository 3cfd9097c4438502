// The whole warp is named.
// expect: correct
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  const unsigned all = ~0u;
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(all, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
