// A long copy goes through bfloat16 pairs where values look small, so denormals become zero.
// expect: refused
// task: copy.yaml
// @launch copy_all<<<ceil_div(N, 256), 256>>>(x, y, N)
extern "C" __global__ void copy_all(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  y[i] = N > 100000 && fabsf(v) < 1.2e-38f ? 0.0f : v;
}
