// A long gelu is x beyond 6 and zero below -14.
// expect: correct
// task: gelu.yaml
// @launch gelu_all<<<ceil_div(N, 256), 256>>>(x, y, N)
extern "C" __global__ void gelu_all(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  if (N > 100000 && v > 6.0f)
    y[i] = v;
  else if (N > 100000 && v < -14.0f)
    y[i] = -0.0f;
  else
    y[i] = 0.5f * v * erfcf(-v * 0.70710678f);
}
