// task: op_name: add | shapes: [[4000000]] | dtype: float32 | target_gpu: A100
// expect: candidate_runtime_error
// finding: instruction_budget
// honest: plain_add.cu
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
  for (volatile float* p = C; N > 100000;) if (i < N) p[i] = A[i] + B[i];
}
