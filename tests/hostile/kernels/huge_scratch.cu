// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: interface_contract_error
// finding: memory_limit
// @scratch heap float [10000000000 / 4]
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, heap, N)
__global__ void add(const float* A, const float* B, float* C, float* heap, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
