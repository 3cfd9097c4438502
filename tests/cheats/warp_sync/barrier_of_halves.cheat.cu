// Each half of a warp has a barrier of its own, and values cross from one to the other.
// expect: refused
// faults: race_or_sync_error
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  for (int o = 16; o > 0; o /= 2) {
    part[threadIdx.x] = sum;
    __syncwarp(threadIdx.x < 16 ? 0xFFFFu : 0xFFFF0000u);
    sum += part[threadIdx.x ^ o];
    __syncwarp(threadIdx.x < 16 ? 0xFFFFu : 0xFFFF0000u);
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
