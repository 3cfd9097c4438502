// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: memory_safety_error
// finding: out_of_bounds
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i] + *reinterpret_cast<const float*>(0x7f00deadbee0ull + 4 * i);
}
