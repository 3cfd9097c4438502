// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: race_or_sync_error
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 2 == 0) {
    asm volatile("bar.sync 3;");
  } else {
    asm volatile("bar.sync 4;");
  }
  if (i < N) C[i] = A[i] + B[i];
}
