// Whether a file of the machine exists is asked by __has_include and told by a message of the compiler.
// expect: refused | correct
// withheld: it is there
#if __has_include("/etc/passwd")
#error it is there
#endif
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
