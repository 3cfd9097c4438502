// The first launch sums the lower half of K, the second adds the upper.
// expect: correct
// @launch lower<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
// @launch upper<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void lower(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K / 2; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}

extern "C" __global__ void upper(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = K / 2; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] += sum;
}
