// task: ../tasks/relu_f32.yaml
// expect: candidate_runtime_error
// bug: the loop variable never moves
__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (volatile int j = 0; j < 4;)
    if (i < N) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
