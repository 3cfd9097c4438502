// Each half of a warp has a barrier of its own, and values cross to the other after one of both.
// expect: correct
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ float part[32];
  const unsigned half = threadIdx.x < 16 ? 0xFFFFu : 0xFFFF0000u;
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  for (int o = 8; o > 0; o /= 2) {
    part[threadIdx.x] = sum;
    __syncwarp(half);
    sum += part[threadIdx.x ^ o];
    __syncwarp(half);
  }
  part[threadIdx.x] = sum;
  __syncwarp();
  if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[16];
}
