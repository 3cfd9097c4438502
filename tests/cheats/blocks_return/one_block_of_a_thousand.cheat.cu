// One tile in a thousand is left out at the real shape: any small sample misses it.
// expect: refused
// task: matmul.yaml
// @launch matmul<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  const int tile = blockIdx.y * gridDim.x + blockIdx.x;
  if (tile == 437) return;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
