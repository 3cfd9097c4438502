// task: ../tasks/rms_norm_f32.yaml
// expect: correctness_mismatch
// bug: a row of zeros divides by zero
// @launch rms_norm<<<ceil_div(M, 4), dim3(32, 4)>>>(x, gamma, y, M, N, eps)
extern "C" __global__ void rms_norm(const float* x, const float* gamma, float* y, int M, int N, float eps) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= M) return;
  const float* in = x + static_cast<size_t>(row) * N;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < N; i += 32) squares += in[i] * in[i];
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  const float scale = rsqrtf(squares / N);
  for (int i = threadIdx.x; i < N; i += 32) y[static_cast<size_t>(row) * N + i] = in[i] * scale * gamma[i];
}
