// Sums of everything.
// expect: correct
// task: tolerant_sum.yaml
// @launch sum<<<OUTER, 256>>>(x, y, R)
extern "C" __global__ void sum(const float* x, float* y, int R) {
  __shared__ float part[8];
  float s = 0;
  for (int i = threadIdx.x; i < R; i += 256) s += x[(size_t)blockIdx.x * R + i];
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 8; ++i) s += part[i];
  y[blockIdx.x] = s;
}
