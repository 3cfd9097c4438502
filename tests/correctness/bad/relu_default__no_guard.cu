// task: ../tasks/relu_f32.yaml
// expect: memory_safety_error
// bug: the tail block runs past the end
__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
