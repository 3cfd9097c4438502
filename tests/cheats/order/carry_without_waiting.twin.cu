// A block sums up all that lies before it, and needs no carry.
// expect: correct
// task: cumsum.yaml
// @launch scan<<<dim3(ceil_div(N, 1024), M), 32>>>(x, y, N)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void scan(const float* x, float* y, int N) {
  const int from = blockIdx.x * 1024, to = min(N, from + 1024);
  const float* in = x + (size_t)blockIdx.y * N;
  float before = 0;
  for (int i = threadIdx.x; i < from; i += 32) before += in[i];
  before = all_sum(before);
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
