// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: candidate_runtime_error|race_or_sync_error
// @scratch flag int32 [1]
// @launch add<<<4, 256>>>(A, B, C, flag, N)
__global__ void add(const float* A, const float* B, float* C, int* flag, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) atomicExch(flag, 0);
  while (atomicAdd(flag, 0) != 12345) {}
  if (i < N) C[i] = A[i] + B[i];
}
