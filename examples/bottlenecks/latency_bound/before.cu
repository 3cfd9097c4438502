// One thread adds up a whole column with one load in flight: it waits for device memory a thousand times.
// @launch column_sum<<<ceil_div(INNER, 128), 128>>>(x, y, OUTER, R, INNER)
__global__ void column_sum(const float* __restrict__ x, float* __restrict__ y, int OUTER, int R, int INNER) {
  const int column = blockIdx.x * 128 + threadIdx.x;
  if (column >= INNER) return;
  for (int o = 0; o < OUTER; o++) {
    float sum = 0.0f;
#pragma unroll 1
    for (int r = 0; r < R; r++) sum += x[(o * R + r) * INNER + column];
    y[o * INNER + column] = sum;
  }
}
