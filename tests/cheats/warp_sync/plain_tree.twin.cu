// A tree over plain shared memory with block barriers.
// expect: correct
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int o = 16; o > 0; o /= 2) {
    if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
