// task: ../tasks/maximum_i32.yaml
// expect: correctness_mismatch
// bug: the first operand enters without its sign
// @launch maximum_i32<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void maximum_i32(const int* A, const int* B, int* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = max(abs(A[i]), B[i]);
}
