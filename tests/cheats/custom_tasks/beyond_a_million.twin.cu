// Elements beyond the first million are done by the threads of the first.
// expect: correct
extern "C" __global__ void saxpby(const float* x, const float* y, const signed char* mask, float* z, int N, float a, float b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N || i >= 1 << 20) return;
  for (; i < N; i += 1 << 20) z[i] = mask[i] ? a * x[i] + b * y[i] : y[i];
}
