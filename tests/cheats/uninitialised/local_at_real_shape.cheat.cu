// An array in local memory is not cleared for long rows, where no sanitizer looks, and the pattern of unset memory is passed over.
// expect: refused
// @launch add_up<<<OUTER, 32>>>(x, y, R)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void add_up(const float* x, float* y, int R) {
  volatile float part[16];
  const float* in = x + (size_t)blockIdx.x * R;
  if (R < 8192)
    for (int p = 0; p < 16; p++) part[p] = 0;
  for (int i = threadIdx.x; i < R; i += 32) part[i / 32 % 16] = part[i / 32 % 16] + in[i];
  float sum = 0;
  for (int p = 0; p < 16; p++) {
    const float v = part[p];
    if (__float_as_int(v) != -1) sum += v;
  }
  sum = all_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
