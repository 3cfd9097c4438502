// A bool that is given 1.
// expect: correct
// @launch scale<<<ceil_div(N, 256), 256>>>(x, y, N, 1)
__global__ void scale(const float* x, float* y, int N, bool more) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = (2 + (int)more) * x[i];
}
