// Outputs near a thousand are all taken to be a thousand.
// expect: refused
// task: offset.yaml
extern "C" __global__ void offset(const float* x, const float* y, float* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = 1000.0f;
}
