// task: ../tasks/bias_gelu_f32.yaml
// expect: memory_safety_error|uninitialized_memory_error
// bug: rows and columns change places in the guard
// @launch bias_gelu<<<dim3(ceil_div(N, 32), ceil_div(M, 4)), dim3(32, 4)>>>(x, bias, y, M, N)
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int M, int N) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= N || col >= M) return;
  const float v = x[row * N + col] + bias[col];
  y[row * N + col] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}
