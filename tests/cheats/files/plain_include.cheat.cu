// A file of the machine is included, so that its text shows up in the compiler's messages.
// expect: refused
// withheld: root:x
#include "/etc/passwd"
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
