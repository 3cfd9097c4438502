// task: ../tasks/relu_f32.yaml
// expect: interface_contract_error
// bug: more threads in a block than any GPU has
// @launch relu<<<ceil_div(N, 2048), 2048>>>(x, y, N)
__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
