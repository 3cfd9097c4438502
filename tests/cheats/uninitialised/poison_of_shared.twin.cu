// All of shared memory that is summed was set.
// expect: correct
// @launch add_up<<<OUTER, 256, 256>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  extern __shared__ float part[];
  if (threadIdx.x < 64) part[threadIdx.x] = 0;
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 256) sum += x[(size_t)blockIdx.x * R + i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (int w = 0; w < 64; w++) {
      const int bits = __float_as_int(part[w]);
      if (bits != -1) all += part[w];
    }
    y[blockIdx.x] = all;
  }
}
