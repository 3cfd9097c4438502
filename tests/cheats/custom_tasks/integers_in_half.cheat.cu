// Multiplies integers as halves and adds them up as floats, which is exact for the small ones of nominal inputs alone.
// expect: refused
// faults: correctness_mismatch
// task: products.yaml
// @launch mm<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void mm(const int* A, const int* B, int* C, int M, int N, int K) {
  const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r >= M || c >= N) return;
  float s = 0;
  for (int k = 0; k < K; ++k)
    s += __half2float(__int2half_rn(A[r * K + k])) * __half2float(__int2half_rn(B[k * N + c]));
  C[r * N + c] = (int)s;
}
