// The matrix is converted anew by every launch.
// expect: correct
// task: matvec.yaml
// @launch prepare<<<ceil_div(M * N, 256), 256>>>(A, M * N)
// @launch multiply<<<M, 32>>>(x, y, M, N)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

__device__ float weights[1 << 20];
extern "C" __global__ void prepare(const float* A, int size) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size) weights[i] = A[i];
}

extern "C" __global__ void multiply(const float* x, float* y, int M, int N) {
  float sum = 0;
  for (int i = threadIdx.x; i < N; i += 32) sum += weights[blockIdx.x * N + i] * x[i];
  sum = all_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
