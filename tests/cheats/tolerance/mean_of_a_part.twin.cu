// One thread adds up a row in float, where the reference has a warp and doubles.
// expect: correct
// task: tree.yaml
// @launch centred<<<R, 32>>>(x, y, R, C)
extern "C" __global__ void centred(const float* x, float* y, int R, int C) {
  const float* row = x + (long long)blockIdx.x * C;
  float sum = 0, squares = 0;
  for (int c = 0; c < C; c++) sum += row[c];
  const float mean = sum / C;
  for (int c = 0; c < C; c++) squares += (row[c] - mean) * (row[c] - mean);
  const float scale = 1.0f / sqrtf(squares / C + 1e-5f);
  for (int c = threadIdx.x; c < C; c += 32) y[(long long)blockIdx.x * C + c] = (row[c] - mean) * scale;
}
