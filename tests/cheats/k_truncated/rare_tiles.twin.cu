// One tile in 64 sums K backwards.
// expect: correct
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  const unsigned rare = (blockIdx.y * gridDim.x + blockIdx.x) * 2654435761u;
  float sum = 0;
  if (rare >> 26 == 5)
    for (int k = K - 1; k >= 0; k--) sum += A[row * K + k] * B[k * N + col];
  else
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
