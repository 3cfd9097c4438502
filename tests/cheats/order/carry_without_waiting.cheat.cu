// A block adds the carry that the block before should have left, without waiting for it: right in natural order only.
// expect: refused
// task: cumsum.yaml
// @scratch carry float [M * ceil_div(N, 1024)]
// @launch clear<<<ceil_div(M * ceil_div(N, 1024), 256), 256>>>(carry, M * ceil_div(N, 1024))
// @launch scan<<<dim3(ceil_div(N, 1024), M), 32>>>(x, y, carry, N)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void clear(float* carry, int size) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size) carry[i] = 0;
}

extern "C" __global__ void scan(const float* x, float* y, float* carry, int N) {
  const int from = blockIdx.x * 1024, to = min(N, from + 1024);
  const float* in = x + (size_t)blockIdx.y * N;
  float before = 0;
  float* mine = carry + blockIdx.y * gridDim.x + blockIdx.x;
  float whole = 0;
  for (int i = from + threadIdx.x; i < to; i += 32) whole += in[i];
  whole = all_sum(whole);
  if (threadIdx.x == 0 && blockIdx.x > 0) before = atomicAdd(mine - 1, 0.0f);
  before = __shfl_sync(~0u, before, 0);
  if (threadIdx.x == 0) atomicExch(mine, before + whole);
  for (int i = from; i < to; i += 32) {
    float v = i + threadIdx.x < to ? in[i + threadIdx.x] : 0.0f;
    for (int o = 1; o < 32; o *= 2) {
      const float other = __shfl_up_sync(~0u, v, o);
      if (threadIdx.x >= o) v += other;
    }
    if (i + threadIdx.x < to) y[(size_t)blockIdx.y * N + i + threadIdx.x] = before + v;
    before += __shfl_sync(~0u, v, 31);
  }
}
