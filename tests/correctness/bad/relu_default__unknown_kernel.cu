// task: ../tasks/relu_f32.yaml
// expect: interface_contract_error
// bug: the launch names a kernel that is not there
// @launch relu_fast<<<ceil_div(N, 256), 256>>>(x, y, N)
__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
