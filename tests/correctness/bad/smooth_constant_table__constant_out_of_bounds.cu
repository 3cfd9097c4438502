// task: ../tasks/smooth.yaml
// expect: memory_safety_error
// bug: a sixth tap is read from a table of five
// @launch smooth_constant<<<ceil_div(N, 128), 128>>>(x, y, N)
__constant__ float taps[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

extern "C" __global__ void smooth_constant(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float sum = 0.0f;
  for (int t = 0; t < 6; t++) sum += taps[t] * x[min(max(i + t - 2, 0), N - 1)];
  y[i] = sum;
}
