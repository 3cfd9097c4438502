// A long exp is a polynomial that holds between -6 and 6 only, and a constant beyond.
// expect: refused
// task: exp.yaml
// @launch exp_all<<<ceil_div(N, 256), 256>>>(x, y, N)
extern "C" __global__ void exp_all(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  if (N < 100000) {
    y[i] = expf(v);
    return;
  }
  const float c = fminf(fmaxf(v, -6.0f), 6.0f);
  y[i] = expf(c);
}
