// Lanes add to a word of shared memory one after the other, as the volatile accesses without a lock suggest.
// expect: refused
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ float total;
  __shared__ int taken;
  if (threadIdx.x == 0) {
    total = 0;
    taken = 0;
  }
  __syncwarp();
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  *(volatile float*)&total = *(volatile float*)&total + (taken == 0 ? sum : 0.0f);
  __syncwarp();
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}
