// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: memory_safety_error
// finding: null_pointer
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* p = N > 0 ? nullptr : A;
  if (i < N) C[i] = A[i] + B[i] + p[i];
}
