// A shuffle stands where lanes exchange values through shared memory: it orders nothing on the machine.
// expect: refused
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  for (int o = 16; o > 0; o /= 2) {
    part[threadIdx.x] = sum;
    const int from = __shfl_sync(~0u, threadIdx.x ^ o, threadIdx.x);
    sum += part[from];
    __shfl_sync(~0u, sum, 0);
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
