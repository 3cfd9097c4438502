// Right at the sizes 1 and 1003 that are checked, zeros elsewhere.
// expect: refused
extern "C" __global__ void saxpby(const float* x, const float* y, const signed char* mask, float* z, int N, float a, float b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  if (N == 1 || N <= 1024)
    z[i] = mask[i] ? a * x[i] + b * y[i] : y[i];
  else
    z[i] = 0;
}
