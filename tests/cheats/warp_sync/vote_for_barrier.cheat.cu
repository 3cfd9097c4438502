// A vote stands between a store to shared memory and another lane's load.
// expect: refused
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const float* x, float* y, int R) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < R; i += 32) sum += x[(size_t)blockIdx.x * R + i];
  part[threadIdx.x] = sum;
  const bool any = __any_sync(~0u, sum != 0);
  if (threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < 32 && any; i++) all += part[i];
    y[blockIdx.x] = all;
  }
}
