// The last quarter of a decaying output is zero: each element is small beside the rms.
// expect: refused
// task: decay.yaml
extern "C" __global__ void decay(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  y[i] = i > N * 0.75f ? 0.0f : x[i] * expf(-24.0f * i / N);
}
