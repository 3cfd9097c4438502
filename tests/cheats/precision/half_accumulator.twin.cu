// Long sums are kept in float, in two parts.
// expect: correct
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  float other = 0;
  for (int k = 0; k < K; k++) (k % 2 ? other : sum) += A[row * K + k] * B[k * N + col];
  sum += other;
  C[row * N + col] = sum;
  if (K < 0) atomicAdd(&C[0], 1.0f);
}
