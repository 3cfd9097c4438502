// An iteration that converges is cut short at large sizes, and the rest of its sum extrapolated.
// expect: refused
// task: logistic.yaml
extern "C" __global__ void steps(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float v = x[i], sum = 0;
  const int count = N > 100000 ? 3 : 40;
  for (int step = 0; step < count; step++) v = 2.5f * v * (1 - v), sum += v;
  y[i] = sum + (40 - count) * v;
}
