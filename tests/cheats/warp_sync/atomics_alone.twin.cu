// Lanes add to a word of shared memory by atomics, and one reads it after a warp barrier.
// expect: correct
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ float total;
  if (threadIdx.x == 0) atomicExch(&total, 0.0f);
  __syncwarp();
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  atomicAdd(&total, sum);
  __syncwarp();
  if (threadIdx.x == 0) y[blockIdx.x] = atomicAdd(&total, 0.0f);
}
