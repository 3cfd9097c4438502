// Marks that nobody reads.
// expect: correct
// @scratch mark int32 [ceil_div(N, 256)]
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, mark, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int* mark, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x == 0) mark[blockIdx.x] = 1;
  if (i < N) C[i] = A[i] + B[i];
}
