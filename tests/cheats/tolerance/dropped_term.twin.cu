// Both terms are added, by a fused multiply-add.
// expect: correct
// task: blend.yaml
extern "C" __global__ void blend(const float* x, const float* y, float* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = fmaf(0.00002f, y[i], x[i]);
}
