// One tile in a thousand sums in two halves.
// expect: correct
// task: matmul.yaml
// @launch matmul<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  const int tile = blockIdx.y * gridDim.x + blockIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  if (tile == 437) {
    float other = 0;
    for (int k = 0; k < K / 2; k++) sum += A[row * K + k] * B[k * N + col];
    for (int k = K / 2; k < K; k++) other += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum + other;
    return;
  }
  for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
