// A tree over volatile shared memory without any warp barrier, as was usual before lanes could part.
// expect: refused
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ volatile float part[64];
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  part[threadIdx.x] = sum;
  part[threadIdx.x + 32] = 0;
  for (int o = 16; o > 0; o /= 2) {
    part[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + o];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
