// A sigmoid by the hyperbolic tangent, in double precision.
// expect: correct
// task: squash.yaml
extern "C" __global__ void squash(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  y[i] = (float)(tanh((double)v) + 0.5 + 0.5 * tanh(0.5 * v) + 0.125 * sin((double)v));
}
