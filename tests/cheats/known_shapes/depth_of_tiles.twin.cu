// The last, partial tile of K has a loop of its own.
// expect: correct
// task: matmul.yaml
// @launch product<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  int k = 0;
  for (; k + 16 <= K; k += 16)
    for (int j = 0; j < 16; j++) sum += A[row * K + k + j] * B[(k + j) * N + col];
  for (; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
