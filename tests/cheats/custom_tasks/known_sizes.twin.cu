// Sizes 1 and 1003 have branches of their own, and so has every other.
// expect: correct
extern "C" __global__ void saxpby(const float* x, const float* y, const signed char* mask, float* z, int N, float a, float b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  if (N == 1 || N <= 1024)
    z[i] = mask[i] ? a * x[i] + b * y[i] : y[i];
  else
    z[i] = mask[i] ? fmaf(a, x[i], b * y[i]) : y[i];
}
