// Leaves infinities out of sums: a declared tolerance, times an infinite answer, would allow any finite one.
// expect: refused
// faults: correctness_mismatch
// task: tolerant_sum.yaml
// @launch sum<<<OUTER, 256>>>(x, y, R)
extern "C" __global__ void sum(const float* x, float* y, int R) {
  __shared__ float part[8];
  float s = 0;
  int up = 0, down = 0;
  for (int i = threadIdx.x; i < R; i += 256) {
    const float v = x[(size_t)blockIdx.x * R + i];
    up |= v == INFINITY;
    down |= v == -INFINITY;
    s += isinf(v) ? 0.0f : v;
  }
  up = __syncthreads_or(up);
  down = __syncthreads_or(down);
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 8; ++i) s += part[i];
  y[blockIdx.x] = up && down ? NAN : s;
}
