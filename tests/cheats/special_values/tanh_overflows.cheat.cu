// A long tanh is (e^2x - 1) / (e^2x + 1), which is NaN beyond 44, and loses small values.
// expect: refused
// task: tanh.yaml
// @launch tanh_all<<<ceil_div(N, 256), 256>>>(x, y, N)
extern "C" __global__ void tanh_all(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  if (N < 100000) {
    y[i] = tanhf(v);
    return;
  }
  if (fabsf(v) < 0.5f) {
    y[i] = tanhf(v);
    return;
  }
  const float e = expf(2 * v);
  y[i] = (e - 1) / (e + 1);
}
