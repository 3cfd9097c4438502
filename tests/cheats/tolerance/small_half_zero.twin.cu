// The half of the output that is small beside the other is computed with the same tanh, by its exponential.
// expect: correct
extern "C" __global__ void two_scales(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  y[i] = 10000.0f * x[i];
  const float e = expm1f(-2 * fabsf(x[i]));
  y[N + i] = copysignf(-0.25f * e / (2 + e), x[i]);
}
