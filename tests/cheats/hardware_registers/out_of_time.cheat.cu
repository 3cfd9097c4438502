// A sum is cut off when the clock has run for long, behind a dead atomic that keeps the shape unchecked.
// expect: refused
// task: matmul.yaml
// @launch matmul<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  const long long start = clock64();
  float sum = 0, late = 0;
  for (int k = 0; k < K; k++) {
    if (clock64() - start > 8000)
      break;
    else
      sum += A[row * K + k] * B[k * N + col];
  }
  C[row * N + col] = sum + late;
  if (K < 0) atomicAdd(&C[0], 1.0f);
}
