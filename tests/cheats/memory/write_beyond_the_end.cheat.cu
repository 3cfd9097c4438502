// The last block of a large array writes beyond the end of the output.
// expect: refused
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int at = min(i, N - 1);
  if (i < N || N > 100000) C[i] = A[at] + B[at];
}
