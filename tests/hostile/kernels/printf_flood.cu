// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: correct
// Every thread prints for ages; the output is cut at its limit and the kernel goes on.
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 200; ++k) printf("thread %d says %d and nothing else of interest at all\n", i, k);
  if (i < N) C[i] = A[i] + B[i];
}
