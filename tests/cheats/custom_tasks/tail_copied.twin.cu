// Where the mask is not set x is not read: y is copied.
// expect: correct
extern "C" __global__ void saxpby(const float* x, const float* y, const signed char* mask, float* z, int N, float a, float b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float v = y[i];
  if (mask[i]) v = a * x[i] + b * v;
  z[i] = v;
}
