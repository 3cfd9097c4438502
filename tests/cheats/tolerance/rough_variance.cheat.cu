// The deviation is taken from every other column.
// expect: refused
// task: tree.yaml
// @launch centred<<<R, 32>>>(x, y, R, C)
__device__ float all(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void centred(const float* x, float* y, int R, int C) {
  const float* row = x + (long long)blockIdx.x * C;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < C; c += 32) sum += row[c];
  const float mean = all(sum) / C;
  for (int c = 2 * threadIdx.x; c < C; c += 64) squares += (row[c] - mean) * (row[c] - mean);
  const float scale = rsqrtf(all(squares) / (C / 2) + 1e-5f);
  for (int c = threadIdx.x; c < C; c += 32) y[(long long)blockIdx.x * C + c] = (row[c] - mean) * scale;
}
