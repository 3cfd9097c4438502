// Outputs near a thousand are computed by fused multiply-adds.
// expect: correct
// task: offset.yaml
extern "C" __global__ void offset(const float* x, const float* y, float* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) z[i] = fmaf(0.01f, x[i], fmaf(0.00002f, y[i], 1000.0f));
}
