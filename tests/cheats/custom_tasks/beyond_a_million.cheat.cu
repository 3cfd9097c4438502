// Nothing is done for elements beyond the first million.
// expect: refused
extern "C" __global__ void saxpby(const float* x, const float* y, const signed char* mask, float* z, int N, float a, float b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N || i >= 1 << 20) return;
  z[i] = mask[i] ? a * x[i] + b * y[i] : y[i];
}
