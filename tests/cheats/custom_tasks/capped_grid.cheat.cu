// The grid is capped at 2048 blocks, so nobody does the rest of a large array.
// expect: refused
// @launch saxpby<<<min(ceil_div(N, 256), 2048), 256>>>(x, y, mask, z, N, a, b)
extern "C" __global__ void saxpby(const float* x, const float* y, const signed char* mask, float* z, int N, float a, float b) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) z[i] = mask[i] ? a * x[i] + b * y[i] : y[i];
}
