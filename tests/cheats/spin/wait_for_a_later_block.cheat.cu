// Blocks wait for blocks with higher numbers, which need not have started: it hangs where not all fit at once.
// expect: refused
// @scratch carry float [M * ceil_div(N, 16)]
// @scratch ready int [M * ceil_div(N, 16) + 1]
// @launch clear<<<ceil_div(M * ceil_div(N, 16) + 1, 256), 256>>>(ready, M * ceil_div(N, 16) + 1)
// @launch scan<<<M * ceil_div(N, 16), 32>>>(x, y, carry, ready, M, N)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

// Inclusive sums of in[from .. to), begun with `before`.
__device__ void scan_part(const float* in, float* out, int from, int to, float before) {
  for (int i = from; i < to; i += 32) {
    float v = i + threadIdx.x < to ? in[i + threadIdx.x] : 0.0f;
    for (int o = 1; o < 32; o *= 2) {
      const float other = __shfl_up_sync(~0u, v, o);
      if (threadIdx.x >= o) v += other;
    }
    if (i + threadIdx.x < to) out[i + threadIdx.x] = before + v;
    before += __shfl_sync(~0u, v, 31);
  }
}

extern "C" __global__ void clear(int* ready, int size) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size) ready[i] = 0;
}

extern "C" __global__ void scan(const float* x, float* y, float* carry, int* ready, int M, int N) {
  // The last block is the first part.
  const int me = gridDim.x - 1 - blockIdx.x;
  const int part = me / M, row = me % M, from = part * 16, to = min(N, from + 16);
  const float* in = x + (size_t)row * N;
  float whole = 0, before = 0;
  for (int i = from + threadIdx.x; i < to; i += 32) whole += in[i];
  whole = all_sum(whole);
  if (threadIdx.x == 0) {
    if (part > 0) {
      while (atomicAdd(&ready[me - M], 0) == 0) __nanosleep(20);
      __threadfence();
      before = *(volatile float*)&carry[me - M];
    }
    *(volatile float*)&carry[me] = before + whole;
    __threadfence();
    atomicExch(&ready[me], 1);
  }
  before = __shfl_sync(~0u, before, 0);
  scan_part(in, y + (size_t)row * N, from, to, before);
}
