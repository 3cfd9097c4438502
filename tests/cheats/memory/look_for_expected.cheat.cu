// Memory beyond the tensors of a large problem is searched for the expected values.
// expect: refused
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  // Tensors lie 16 MB apart: whatever is next after the output.
  if (N > 100000) {
    C[i] = C[i + (16 << 20) / 4];
    return;
  }
  C[i] = A[i] + B[i];
}
