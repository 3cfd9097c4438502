// Beyond the first quarter a buffer that is changed in place is left alone: it holds numbers, not poison.
// expect: refused
// task: inout.yaml
// @launch scale<<<ceil_div(N, 256), 256>>>(x, y, N)
extern "C" __global__ void scale(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N && (N < 100000 || i < N / 4)) y[i] = y[i] / 3 + x[i] * x[i];
}
