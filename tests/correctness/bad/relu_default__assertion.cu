// task: ../tasks/relu_f32.yaml
// expect: candidate_runtime_error
// bug: an assertion fails
#include <assert.h>

__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) assert(x[i] >= 0.0f);
  if (i < N) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
