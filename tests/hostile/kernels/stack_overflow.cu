// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: candidate_runtime_error
// finding: stack_overflow
__device__ __noinline__ int dive(volatile int* p, int depth) {
  volatile int pad[64];
  pad[depth % 64] = depth;
  return dive(p, depth + 1) + pad[(depth + 1) % 64] + *p;
}
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int x = i;
  if (i < N) C[i] = A[i] + B[i] + 0 * dive(&x, 0);
}
