// task: ../tasks/relu_f32.yaml
// expect: correctness_mismatch
// bug: negative values pass
__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i] > -0.5f ? x[i] : 0.0f;
}
