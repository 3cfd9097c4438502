// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: interface_contract_error
// finding: launch_limit
// @launch add<<<dim3(1, 100000, 1), 256>>>(A, B, C, N)
__global__ void add(const float* A, const float* B, float* C, int N) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
