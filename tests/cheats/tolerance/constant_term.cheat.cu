// The smaller of two terms is replaced by its mean.
// open: the reference's own rounding errors are not known, so that tolerances are generous
// expect: refused
// task: blend.yaml
extern "C" __global__ void blend(const float* x, const float* y, float* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = x[i] + 0.00003f;
}
