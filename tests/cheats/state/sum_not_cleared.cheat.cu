// Row sums are added up in device memory that is zero only before the first launch.
// expect: refused
// task: matvec.yaml
// @launch add<<<dim3(M, 2), 32>>>(A, x, M, N)
// @launch write<<<ceil_div(M, 256), 256>>>(y, M)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

__device__ float sums[1 << 16];
extern "C" __global__ void add(const float* A, const float* x, int M, int N) {
  float sum = 0;
  for (int i = blockIdx.y * 32 + threadIdx.x; i < N; i += 64) sum += A[(size_t)blockIdx.x * N + i] * x[i];
  sum = all_sum(sum);
  if (threadIdx.x == 0) atomicAdd(&sums[blockIdx.x], sum);
}

extern "C" __global__ void write(float* y, int M) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < M) y[i] = sums[i];
}
