// The lanes that happen to be together are taken for the whole warp.
// expect: refused
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  const unsigned all = __activemask();
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(all, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
