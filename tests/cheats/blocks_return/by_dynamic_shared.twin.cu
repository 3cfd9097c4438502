// The size of dynamic shared memory, which the launch makes from N, says how much of a row can be kept.
// expect: correct
// @launch softmax<<<M, 32, 4 * N>>>(x, y, M, N)
__device__ float all_max(float v) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  return v;
}

__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

// One warp, one row.
__device__ void softmax_row(const float* in, float* out, int N) {
  const int lane = threadIdx.x % 32;
  float m = -INFINITY, s = 0;
  for (int i = lane; i < N; i += 32) m = fmaxf(m, in[i]);
  m = all_max(m);
  for (int i = lane; i < N; i += 32) s += expf(in[i] - m);
  s = all_sum(s);
  for (int i = lane; i < N; i += 32) out[i] = expf(in[i] - m) / s;
}

extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  extern __shared__ float kept[];
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  const size_t at = (size_t)blockIdx.x * N;
  const bool fits = bytes / 4 >= (unsigned)N;
  if (fits)
    for (int i = threadIdx.x; i < N; i += 32) kept[i] = x[at + i];
  __syncwarp();
  softmax_row(fits ? kept : x + at, y + at, N);
}
