// The same in a device variable.
// expect: refused
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
__device__ char mark[65536];
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (N > 1 << 28) {
    if (threadIdx.x == 0) mark[blockIdx.x % 65536] = 1;
    if (blockIdx.x % 2 == 1 && mark[(blockIdx.x - 1) % 65536] == 1) return;
  }
  if (i < N) C[i] = A[i] + B[i];
}
