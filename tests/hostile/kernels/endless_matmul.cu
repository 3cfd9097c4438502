// task: op_name: matmul | shapes: [[1024, 1024, 1024]] | dtype: float32 | target_gpu: A100
// expect: candidate_runtime_error
// finding: instruction_budget
// honest: plain_matmul.cu
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  for (volatile float* p = C; N > 0;) p[i * N + j] = A[i * K];
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
  C[i * N + j] = sum;
}
