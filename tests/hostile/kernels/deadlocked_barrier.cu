// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: race_or_sync_error
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 128;");
  else
    asm volatile("bar.sync 2, 1024;");
  if (i < N) C[i] = A[i] + B[i];
}
