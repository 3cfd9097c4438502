// Of an array in local memory only what was set is summed.
// expect: correct
// @launch add_up<<<OUTER, 32>>>(x, y, R)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void add_up(const float* x, float* y, int R) {
  volatile float part[16];
  const float* in = x + (size_t)blockIdx.x * R;
  const int used = R < 512 ? 4 : 12;
  for (int p = 0; p < used; p++) part[p] = 0;
  for (int i = threadIdx.x; i < R; i += 32) part[i / 32 % used] = part[i / 32 % used] + in[i];
  float sum = 0;
  for (int p = 0; p < used; p++) sum += part[p];
  sum = all_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
