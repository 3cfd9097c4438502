// The class is made in the kernel, of a number.
// expect: correct
// @launch scale<<<ceil_div(N, 256), 256>>>(x, y, N, a)
struct Size {
  int n;
  __device__ constexpr Size(long long given) : n((int)given) {}
};
__global__ void scale(const float* x, float* y, int N, float a) {
  const Size size(N);
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size.n) y[i] = a * x[i];
}
