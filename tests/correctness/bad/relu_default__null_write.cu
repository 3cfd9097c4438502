// task: ../tasks/relu_f32.yaml
// expect: memory_safety_error|candidate_runtime_error
// bug: the output pointer is null
__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y = nullptr;
  if (i < N) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
