// A bool that is given 2: the byte is 2 here, and true, which is 1, in an extracted program.
// expect: refused
// faults: interface_contract_error
// @launch scale<<<ceil_div(N, 256), 256>>>(x, y, N, 2)
__global__ void scale(const float* x, float* y, int N, bool more) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = (1 + (int)more) * x[i];
}
