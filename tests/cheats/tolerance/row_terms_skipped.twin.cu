// A warp adds up a row with the fast exponential, in another order.
// expect: correct
// task: rows.yaml
// @launch rows<<<R, 32>>>(x, w, y, R, C)
extern "C" __global__ void rows(const float* x, const float* w, float* y, int R, int C) {
  const float* row = x + (long long)blockIdx.x * C;
  float sum = 0;
  for (int c = threadIdx.x; c < C; c += 32) sum = fmaf(__expf(row[c]), w[c], sum);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
