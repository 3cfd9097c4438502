// Multiplies integers by their upper and lower halves, which is exact for all of them.
// expect: correct
// task: products.yaml
// @launch mm<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void mm(const int* A, const int* B, int* C, int M, int N, int K) {
  const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r >= M || c >= N) return;
  unsigned s = 0;
  for (int k = 0; k < K; ++k) {
    const unsigned a = A[r * K + k], b = B[k * N + c];
    s += (a & 0xFFFFu) * b + (((a >> 16) * b) << 16);
  }
  C[r * N + c] = (int)s;
}
