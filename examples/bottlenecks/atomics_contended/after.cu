// reduce_first: a thread adds up sixteen elements, its warp and block by shuffles; one update per block.
// @launch clear<<<ceil_div(OUTER * INNER, 256), 256>>>(y, OUTER * INNER)
// @launch sum<<<dim3(ceil_div(R, 4096), OUTER * INNER), 256>>>(x, y, R, INNER)
__global__ void clear(float* y, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < count) y[i] = 0.0f;
}
__global__ void sum(const float* __restrict__ x, float* y, int R, int INNER) {
  __shared__ float partial[8];
  const int o = blockIdx.y, t = threadIdx.x;
  float value = 0.0f;
#pragma unroll
  for (int u = 0; u < 16; u++) {
    const int r = blockIdx.x * 4096 + u * 256 + t;
    if (r < R) value += x[(o / INNER * R + r) * INNER + o % INNER];
  }
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  if (t % 32 == 0) partial[t / 32] = value;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < 8; w++) value += partial[w];
    atomicAdd(y + o, value);
  }
}
