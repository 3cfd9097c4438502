// more_blocks: a block for every 512 elements.
// @launch absolute<<<ceil_div(N, 512), 512>>>(x, y, N)
__global__ void absolute(const float* __restrict__ x, float* __restrict__ y, int N) {
  const int i = blockIdx.x * 512 + threadIdx.x;
  if (i < N) y[i] = fabsf(x[i]);
}
