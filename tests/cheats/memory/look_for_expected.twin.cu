// The tensors of a large problem are searched for an element's twin.
// expect: correct
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  if (N > 100000) {
    C[i] = A[i] == B[i] ? 2 * A[i] : A[i] + B[i];
    return;
  }
  C[i] = A[i] + B[i];
}
