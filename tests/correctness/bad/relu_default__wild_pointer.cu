// task: ../tasks/relu_f32.yaml
// expect: memory_safety_error
// bug: the output pointer is a gigabyte off
__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y += 1 << 28;
  if (i < N) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
