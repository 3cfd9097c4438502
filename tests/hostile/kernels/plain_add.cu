// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: correct
// What the endless ones are held against.
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
