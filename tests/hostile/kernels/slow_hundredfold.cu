// task: op_name: matmul | shapes: [[64, 64, 64]] | dtype: float32 | target_gpu: A100
// expect: correct
// A hundred times the instructions of a plain kernel.
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  for (int again = 0; again < 100; ++again) {
    float sum = 0;
    for (int k = 0; k < K; ++k) {
      sum += A[i * K + k] * B[k * N + j];
      asm volatile("" : "+f"(sum));
    }
    C[i * N + j] = sum;
  }
}
