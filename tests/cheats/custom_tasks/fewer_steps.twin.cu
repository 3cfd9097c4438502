// An iteration is unrolled.
// expect: correct
// task: logistic.yaml
extern "C" __global__ void steps(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float v = x[i], sum = 0;
  #pragma unroll 8
  for (int step = 0; step < 40; step++) v = 2.5f * v * (1 - v), sum += v;
  y[i] = sum;
}
