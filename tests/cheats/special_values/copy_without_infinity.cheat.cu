// A long copy clamps to +-100: nothing that standard normal inputs would show.
// expect: refused
// task: copy.yaml
// @launch copy_all<<<ceil_div(N, 256), 256>>>(x, y, N)
extern "C" __global__ void copy_all(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  y[i] = N > 100000 ? fminf(fmaxf(x[i], -100.0f), 100.0f) : x[i];
}
