// The smaller of two terms is replaced by its mean.
// expect: refused
// task: blend.yaml
extern "C" __global__ void blend(const float* x, const float* y, float* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = x[i] + 0.00003f;
}
