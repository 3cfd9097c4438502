// Fast intrinsics of float precision for all three functions.
// expect: correct
// task: squash.yaml
extern "C" __global__ void squash(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  const float tangent = 1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * v));
  y[i] = tangent + __fdividef(1.0f, 1.0f + __expf(-v)) + 0.125f * __sinf(v);
}
