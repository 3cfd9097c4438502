// The word include is cut by line splices and written with a digraph.
// expect: refused
// withheld: root:x
%:inc\
lu\
de "/etc/passwd"
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
