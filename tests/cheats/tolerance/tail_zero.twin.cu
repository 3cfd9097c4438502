// Of a decaying output only what has no factor left is zero.
// expect: correct
// task: decay.yaml
extern "C" __global__ void decay(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float factor = expf(-24.0f * i / N);
  y[i] = factor == 0.0f ? 0.0f : factor * x[i];
}
