// Adds the low 16 bits and extends the sign: right for small numbers only.
// expect: refused
// task: add_int.yaml
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(const int* A, const int* B, int* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = (short)(A[i] + B[i]);
}
