// The half of the output that is small beside the other is set to zero: nothing in terms of the rms of all.
// expect: refused
extern "C" __global__ void two_scales(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  y[i] = 10000.0f * x[i];
  y[N + i] = 0;
}
