// One thread a row: right, and slow. Neighbouring threads read addresses a whole row apart.
// @launch softmax_naive<<<ceil_div(M, 64), 64>>>(x, y, M, N)
extern "C" __global__ void softmax_naive(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float largest = -INFINITY;
  for (int i = 0; i < N; i++) largest = fmaxf(largest, x[row * N + i]);
  float sum = 0.0f;
  for (int i = 0; i < N; i++) sum += expf(x[row * N + i] - largest);
  for (int i = 0; i < N; i++) y[row * N + i] = expf(x[row * N + i] - largest) / sum;
}
