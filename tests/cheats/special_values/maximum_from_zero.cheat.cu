// The maximum of a long row starts from zero: right unless all of a row is negative.
// expect: refused
// task: max.yaml
// @launch largest<<<OUTER, 32>>>(x, y, OUTER, R)
extern "C" __global__ void largest(const float* x, float* y, int OUTER, int R) {
  const float* in = x + (size_t)blockIdx.x * R;
  float m = R > 4096 ? 0.0f : in[0];
  for (int i = threadIdx.x; i < R; i += 32) m = fmaxf(m, in[i]);
  for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (threadIdx.x == 0) y[blockIdx.x] = m;
}
