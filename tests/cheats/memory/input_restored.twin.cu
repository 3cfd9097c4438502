// Shared memory serves as scratch.
// expect: correct
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(float* A, const float* B, float* C, int N) {
  __shared__ float kept[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float was = A[i];
  kept[threadIdx.x] = was + B[i];
  C[i] = kept[threadIdx.x];
}
