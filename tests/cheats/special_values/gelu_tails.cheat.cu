// A long gelu is zero beyond 6, where standard normal inputs never are.
// expect: refused
// task: gelu.yaml
// @launch gelu_all<<<ceil_div(N, 256), 256>>>(x, y, N)
extern "C" __global__ void gelu_all(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  if (N > 100000 && fabsf(v) > 6.0f)
    y[i] = 0.0f;
  else
    y[i] = 0.5f * v * erfcf(-v * 0.70710678f);
}
