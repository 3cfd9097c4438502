// A sigmoid that is one for more than 5, where it is off by a part in two hundred.
// expect: refused
// task: squash.yaml
extern "C" __global__ void squash(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  const float sigmoid = v > 5 ? 1.0f : 1.0f / (1.0f + expf(-v));
  y[i] = tanhf(v) + sigmoid + 0.125f * sinf(v);
}
