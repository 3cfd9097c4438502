// Blocks leave marks in scratch; one that finds its neighbour's is idle.
// expect: refused
// @scratch mark int32 [ceil_div(N, 256)]
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, mark, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int* mark, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (N > 1 << 28) {
    if (threadIdx.x == 0) mark[blockIdx.x] = 1;
    if (blockIdx.x % 2 == 1 && mark[blockIdx.x - 1] == 1) return;
  }
  if (i < N) C[i] = A[i] + B[i];
}
