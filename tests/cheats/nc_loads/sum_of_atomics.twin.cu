// Sums are made by atomics and loaded after a barrier.
// expect: correct
// @scratch total float [M]
// @launch clear<<<ceil_div(M, 256), 256>>>(total, M)
// @launch softmax<<<M, 64>>>(x, y, total, N)
__device__ float all_max(float v) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  return v;
}

__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void clear(float* total, int M) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < M) total[i] = 0;
}

extern "C" __global__ void softmax(const float* x, float* y, float* total, int N) {
  const size_t at = (size_t)blockIdx.x * N;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < N; i += 64) m = fmaxf(m, x[at + i]);
  __shared__ float most[2];
  m = all_max(m);
  if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = m;
  __syncthreads();
  m = fmaxf(most[0], most[1]);
  float s = 0;
  for (int i = threadIdx.x; i < N; i += 64) s += expf(x[at + i] - m);
  s = all_sum(s);
  if (threadIdx.x % 32 == 0) atomicAdd(&total[blockIdx.x], s);
  __threadfence();
  __syncthreads();
  float whole;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(whole) : "l"(total + blockIdx.x) : "memory");
  for (int i = threadIdx.x; i < N; i += 64) y[at + i] = expf(x[at + i] - m) / whole;
}
