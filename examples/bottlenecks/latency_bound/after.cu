// more_in_flight, more_warps: sixteen warps share a group of columns, each with eight loads in flight.
// @launch column_sum<<<ceil_div(INNER, 32), dim3(32, 16)>>>(x, y, OUTER, R, INNER)
__global__ void column_sum(const float* __restrict__ x, float* __restrict__ y, int OUTER, int R, int INNER) {
  __shared__ float partial[16][32];
  const int column = blockIdx.x * 32 + threadIdx.x;
  for (int o = 0; o < OUTER; o++) {
    float sum[8] = {};
    if (column < INNER)
      for (int r = threadIdx.y; r < R; r += 16 * 8) {
#pragma unroll
        for (int u = 0; u < 8; u++)
          if (r + 16 * u < R) sum[u] += x[(o * R + r + 16 * u) * INNER + column];
      }
    partial[threadIdx.y][threadIdx.x] =
        ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    __syncthreads();
    if (threadIdx.y == 0 && column < INNER) {
      float total = 0.0f;
#pragma unroll
      for (int w = 0; w < 16; w++) total += partial[w][threadIdx.x];
      y[o * INNER + column] = total;
    }
    __syncthreads();
  }
}
