// One block in 64 executes the same instructions, but its lanes meet in one bank of shared memory: 32 times the passes.
// expect: timed
// @launch softmax<<<M, 32>>>(x, y, M, N)
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
  __shared__ volatile float bank[1024];
  const int far = M >= 4096 && blockIdx.x % 64 == 37;
  const int step = far ? 32 : 1;
  float idle = 0;
  for (int i = 0; i < 32; i++) bank[i * 32 + threadIdx.x] = i;
  __syncwarp();
  if (M >= 4096)
    for (int i = 0; i < 2048; i++) idle += bank[(threadIdx.x * step + i) & 1023];
  const size_t at = (size_t)blockIdx.x * N;
  softmax_row(x + at, y + at, N);
  if (idle == 12345.678f) y[at] = idle;
}
