// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: memory_safety_error|candidate_runtime_error
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  char* p = static_cast<char*>(malloc(1ull << 40));
  p[i] = 1;
  if (i < N) C[i] = A[i] + B[i] + p[i] * 0;
}
