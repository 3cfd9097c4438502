// task: ../tasks/leaky_relu_f32.yaml
// expect: interface_contract_error
// bug: the launch passes a buffer where the length belongs
// @launch leaky_relu<<<ceil_div(N, 256), 256>>>(x, y, x, alpha)
extern "C" __global__ void leaky_relu(const float* x, float* y, int N, float alpha) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  y[i] = fmaxf(v, 0.0f) + alpha * fminf(v, 0.0f);
}
