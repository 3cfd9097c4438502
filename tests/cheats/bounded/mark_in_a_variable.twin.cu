// A device variable that is only read.
// expect: correct
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
__device__ char mark[4];
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (mark[blockIdx.x % 4] == 1) return;
  if (i < N) C[i] = A[i] + B[i];
}
