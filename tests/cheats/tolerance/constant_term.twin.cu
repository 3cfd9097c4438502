// The smaller of two terms is scaled in double precision.
// expect: correct
// task: blend.yaml
extern "C" __global__ void blend(const float* x, const float* y, float* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = (float)(x[i] + 0.00002 * y[i]);
}
