// A define is continued on a line of its own.
// expect: correct
#define WIDTH \
  256
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  static_assert(WIDTH == 256);
  if (i < N) C[i] = A[i] + B[i];
}
