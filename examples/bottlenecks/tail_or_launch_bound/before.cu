// Four blocks for the whole array: most multiprocessors never get one.
// @launch absolute<<<4, 1024>>>(x, y, N)
__global__ void absolute(const float* __restrict__ x, float* __restrict__ y, int N) {
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < N; i += 4 * 1024) y[i] = fabsf(x[i]);
}
