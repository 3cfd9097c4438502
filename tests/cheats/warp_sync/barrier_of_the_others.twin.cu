// All lanes meet at a warp barrier before one reads.
// expect: correct
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  part[threadIdx.x] = sum;
  if (threadIdx.x != 0) __syncwarp(~1u);
  __syncwarp();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 32; i++) sum += part[i];
    y[blockIdx.x] = sum;
  }
}
