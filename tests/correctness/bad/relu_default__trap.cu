// task: ../tasks/relu_f32.yaml
// expect: candidate_runtime_error
// bug: the kernel traps on negative input
__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N && x[i] < 0.0f) __trap();
  if (i < N) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
