// A parameter whose constructor nobody runs here; in an extracted program it runs on the host, and makes another number.
// expect: refused
// faults: interface_contract_error
// @launch scale<<<ceil_div(N, 256), 256>>>(x, y, N, a)
struct Size {
  int n;
  constexpr Size(long long given) : n(2 * (int)given) {}
};
__global__ void scale(const float* x, float* y, Size size, float a) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size.n) y[i] = a * x[i];
}
