// The name of an included file is made by a macro, which a scan of the source does not see.
// expect: refused
// withheld: root:x
#define QUOTED(name) #name
#define NAMED(name) QUOTED(name)
#include NAMED(/etc/passwd)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
