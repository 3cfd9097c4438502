// Every byte is moved once: here the rule fires, there is little left to win.
// @launch sum<<<ceil_div(N, 1024), 256>>>(A, B, C, N)
__global__ void sum(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N) {
#pragma unroll
  for (int u = 0; u < 4; u++) {
    const int i = blockIdx.x * 1024 + u * 256 + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
  }
}
