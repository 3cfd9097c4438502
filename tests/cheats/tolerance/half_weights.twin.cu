// Rows are added up from the back, in four sums.
// expect: correct
// task: rows.yaml
extern "C" __global__ void rows(const float* x, const float* w, float* y, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float sums[4] = {};
  for (int c = C - 1; c >= 0; c--) sums[c % 4] += exp2f(x[r * C + c] * 1.44269504f) * w[c];
  y[r] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
