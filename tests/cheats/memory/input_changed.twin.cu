// At the real shape the sum is left in scratch as well.
// expect: correct
// @scratch kept float [N]
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, kept, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, float* kept, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float sum = A[i] + B[i];
  C[i] = sum;
  if (N > 100000) kept[i] = sum;
}
