// Lengths that are multiples of 1024 need no look at the end.
// expect: correct
// task: add.yaml
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (N % 1024 == 0 || i < N) C[i] = A[i] + B[i];
}
