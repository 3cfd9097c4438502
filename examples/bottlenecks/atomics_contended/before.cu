// Every element is an atomic update of its sum.
// @launch clear<<<ceil_div(OUTER * INNER, 256), 256>>>(y, OUTER * INNER)
// @launch sum<<<dim3(ceil_div(R, 256), OUTER * INNER), 256>>>(x, y, R, INNER)
__global__ void clear(float* y, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < count) y[i] = 0.0f;
}
__global__ void sum(const float* __restrict__ x, float* y, int R, int INNER) {
  const int r = blockIdx.x * 256 + threadIdx.x, o = blockIdx.y;
  if (r < R) atomicAdd(y + o, x[(o / INNER * R + r) * INNER + o % INNER]);
}
