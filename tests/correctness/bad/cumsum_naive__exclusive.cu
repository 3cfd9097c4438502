// task: ../tasks/cumsum_f32.yaml
// expect: correctness_mismatch
// bug: stores before adding
// @launch cumsum_naive<<<ceil_div(M, 32), 32>>>(x, y, M, N)
extern "C" __global__ void cumsum_naive(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0.0f;
  for (int i = 0; i < N; i++) {
    y[row * N + i] = sum;
    sum += x[row * N + i];
  }
}
