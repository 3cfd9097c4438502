// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: interface_contract_error
// @launch add<<<ceil_div(N, 256), 256, 300000>>>(A, B, C, N)
__global__ void add(const float* A, const float* B, float* C, int N) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) { s[threadIdx.x] = A[i]; C[i] = s[threadIdx.x] + B[i]; }
}
