// A block whose neighbour has written its part leaves its own out: of a few sampled blocks none finds one that has.
// expect: refused
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (N > 1 << 28 && blockIdx.x % 2 == 1) {
    const float before = C[i - 256];
    if (before == before) return;
  }
  if (i < N) C[i] = A[i] + B[i];
}
