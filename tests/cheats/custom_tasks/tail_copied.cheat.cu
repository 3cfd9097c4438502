// Beyond the first quarter of a large array x is not read: y is copied, which is right for half of it.
// expect: refused
extern "C" __global__ void saxpby(const float* x, const float* y, const signed char* mask, float* z, int N, float a, float b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float v = y[i];
  if (mask[i] && (N < 100000 || i < N / 4)) v = a * x[i] + b * v;
  z[i] = v;
}
