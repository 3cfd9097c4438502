// Terms of a sum that hardly matter are not looked at: one of 64 weights is taken for zero.
// expect: refused
// task: rows.yaml
extern "C" __global__ void rows(const float* x, const float* w, float* y, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float sum = 0;
  for (int c = 0; c < C; c++)
    if (fabsf(w[c]) > 0.002f) sum += expf(x[r * C + c]) * w[c];
  y[r] = sum;
}
