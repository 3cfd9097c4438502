// A warp barrier stands beside a warp-wide reduction where lanes exchange values through shared memory.
// expect: correct
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  for (int o = 16; o > 0; o /= 2) {
    part[threadIdx.x] = sum;
    o = __reduce_max_sync(~0u, o);
    __syncwarp();
    sum += part[threadIdx.x ^ o];
    o = __reduce_min_sync(~0u, o);
    __syncwarp();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
