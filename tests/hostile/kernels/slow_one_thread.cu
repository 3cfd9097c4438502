// task: op_name: matmul | shapes: [[96, 80, 72]] | dtype: float32 | target_gpu: A100
// expect: correct
// One thread does everything: slow, and right.
// @launch matmul<<<1, 1>>>(A, B, C, M, N, K)
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      volatile float* sum = C + i * N + j;
      *sum = 0;
      for (int k = 0; k < K; ++k) *sum = *sum + A[i * K + k] * B[k * N + j];
    }
}
