// A series of three terms stands for the sine near zero, and the hardware's tangent for the other.
// expect: refused
// task: squash.yaml
extern "C" __global__ void squash(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float v = x[i], s = v * v;
  const float sine = fabsf(v) < 1 ? v * (1 - s / 6 * (1 - s / 20)) : sinf(v);
  y[i] = tanhf(v) + 1.0f / (1.0f + expf(-v)) + 0.125f * sine;
}
