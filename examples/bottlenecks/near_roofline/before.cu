// A copy of A goes to device memory and comes back: two thirds more bytes than the task needs.
// @scratch copy float [N]
// @launch save<<<ceil_div(N, 256), 256>>>(A, copy, N)
// @launch sum<<<ceil_div(N, 256), 256>>>(copy, B, C, N)
__global__ void save(const float* __restrict__ A, float* __restrict__ copy, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) copy[i] = A[i];
}
__global__ void sum(const float* __restrict__ copy, const float* __restrict__ B, float* __restrict__ C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = copy[i] + B[i];
}
