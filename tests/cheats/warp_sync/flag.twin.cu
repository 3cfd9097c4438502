// A lane adds what its neighbour has left, once its flag is up.
// expect: correct
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ volatile float part[32];
  __shared__ volatile int ready[32];
  ready[threadIdx.x] = 0;
  __syncwarp();
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  // Each lane adds what the lanes after it have.
  if (threadIdx.x < 31) {
    while (ready[threadIdx.x + 1] == 0) {
    }
    __threadfence_block();
    sum += part[threadIdx.x + 1];
  }
  part[threadIdx.x] = sum;
  __threadfence_block();
  ready[threadIdx.x] = 1;
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
