// The smaller of two terms is left out, and with it half of the reads.
// expect: refused
// task: blend.yaml
extern "C" __global__ void blend(const float* x, const float* y, float* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = x[i];
}
