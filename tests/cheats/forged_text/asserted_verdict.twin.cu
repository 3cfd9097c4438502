// A right kernel asserts something that holds.
// expect: correct
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (!(N > 0)) __assertfail("N > 0", "add.cu", 8, "add", 1);
  if (i < N) C[i] = A[i] + B[i];
}
