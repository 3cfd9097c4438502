// task: ../tasks/leaky_relu_f32.yaml
// expect: correctness_mismatch
// bug: the slope is applied on both sides
// @launch leaky_relu<<<ceil_div(N, 256), 256>>>(x, y, N, alpha)
extern "C" __global__ void leaky_relu(const float* x, float* y, int N, float alpha) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  y[i] = alpha * v;
}
