// less_shared_memory: the row stays in the registers of 1024 threads; two such blocks fill a multiprocessor with warps.
// @launch rms_norm<<<M, 1024>>>(x, gamma, y, M, N, eps)
__global__ void __launch_bounds__(1024, 2)
rms_norm(const float* __restrict__ x, const float* __restrict__ gamma, float* __restrict__ y, int M, int N, float eps) {
  __shared__ float partial[32];
  const int t = threadIdx.x;
  float value[8];
  float sum = 0.0f;
#pragma unroll
  for (int u = 0; u < 8; u++) {
    const int i = t + 1024 * u;
    value[u] = i < N ? x[blockIdx.x * N + i] : 0.0f;
  }
#pragma unroll
  for (int u = 0; u < 8; u++) sum += value[u] * value[u];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (t % 32 == 0) partial[t / 32] = sum;
  __syncthreads();
  sum = partial[t % 32];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  const float scale = rsqrtf(sum / N + eps);
#pragma unroll
  for (int u = 0; u < 8; u++) {
    const int i = t + 1024 * u;
    if (i < N) y[blockIdx.x * N + i] = value[u] * scale * gamma[i];
  }
}
