// Mean and deviation in one pass by Welford's recurrence, merged over a warp.
// expect: correct
// task: tree.yaml
// @launch centred<<<R, 32>>>(x, y, R, C)
extern "C" __global__ void centred(const float* x, float* y, int R, int C) {
  const float* row = x + (long long)blockIdx.x * C;
  float mean = 0, squares = 0, count = 0;
  for (int c = threadIdx.x; c < C; c += 32) {
    count += 1;
    const float d = row[c] - mean;
    mean += __fdividef(d, count);
    squares += d * (row[c] - mean);
  }
  for (int o = 16; o > 0; o /= 2) {
    const float m = __shfl_xor_sync(~0u, mean, o), s = __shfl_xor_sync(~0u, squares, o), n = __shfl_xor_sync(~0u, count, o);
    const float all = count + n, d = m - mean;
    if (all > 0) {
      squares += s + d * d * (count * n / all);
      mean = (mean * count + m * n) / all;
      count = all;
    }
  }
  const float scale = rsqrtf(squares / C + 1e-5f);
  for (int c = threadIdx.x; c < C; c += 32) y[(long long)blockIdx.x * C + c] = (row[c] - mean) * scale;
}
