// The last block of a large array stops at the end of the output.
// expect: correct
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int at = min(i, N - 1);
  if (i < N) C[i] = A[at] + B[at];
}
