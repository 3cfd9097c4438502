// task: ../tasks/relu_f32.yaml
// expect: memory_safety_error
// bug: the input is cleared after use
__global__ void relu(float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
  if (i < N) x[i] = 0.0f;
}
