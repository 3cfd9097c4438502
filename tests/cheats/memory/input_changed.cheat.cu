// At the real shape the sum is left in the input as well, for the next launch to find.
// expect: refused
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float sum = A[i] + B[i];
  C[i] = sum;
  if (N > 100000) A[i] = sum;
}
