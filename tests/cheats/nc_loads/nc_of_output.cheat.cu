// The output, written a moment ago by other lanes, is read back by ld.global.nc.
// expect: refused
// @launch softmax<<<M, 32>>>(x, y, N)
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

extern "C" __global__ void softmax(const float* x, float* y, int N) {
  const size_t at = (size_t)blockIdx.x * N;
  softmax_row(x + at, y + at, N);
  __syncwarp();
  // Rows are made to sum to one.
  float s = 0;
  for (int i = threadIdx.x; i < N; i += 32) {
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(y + at + N - 1 - i));
    s += v;
  }
  s = all_sum(s);
  __syncwarp();
  for (int i = threadIdx.x; i < N; i += 32) y[at + i] = y[at + i] / s;
}
