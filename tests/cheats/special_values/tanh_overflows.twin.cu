// A long tanh is (1 - e^-2|x|) / (1 + e^-2|x|), with expm1 for small values.
// expect: correct
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
  const float e = expm1f(-2 * fabsf(v));
  y[i] = copysignf(-e / (2 + e), v);
}
