// Lanes add to a word of shared memory under a lock that each of them takes.
// expect: correct
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
  for (bool done = false; !done;)
    if (atomicCAS(&taken, 0, 1) == 0) {
      __threadfence_block();
      *(volatile float*)&total = *(volatile float*)&total + sum;
      __threadfence_block();
      atomicExch(&taken, 0);
      done = true;
    }
  __syncwarp();
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}
