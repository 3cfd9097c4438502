// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: interface_contract_error
// finding: launch_limit
// @launch add<<<1, 1000000>>>(A, B, C, N)
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
