// task: ../tasks/layer_norm_f32.yaml
// expect: correctness_mismatch
// bug: divided by N - 1
// @launch layer_norm_naive<<<ceil_div(M, 32), 32>>>(x, gamma, beta, y, M, N, eps)
extern "C" __global__ void layer_norm_naive(const float* x, const float* gamma, const float* beta, float* y, int M,
                                            int N, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + row * N;
  float mean = 0.0f;
  for (int i = 0; i < N; i++) mean += in[i];
  mean /= N;
  float variance = 0.0f;
  for (int i = 0; i < N; i++) variance += (in[i] - mean) * (in[i] - mean);
  variance /= N > 1 ? N - 1 : 1;
  const float scale = 1.0f / sqrtf(variance + eps);
  for (int i = 0; i < N; i++) y[row * N + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}
