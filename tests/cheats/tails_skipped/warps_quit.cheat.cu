// Half of the threads of a block quit when rows are long, and with them their columns.
// expect: refused
// @launch softmax<<<M, 64>>>(x, y, M, N)
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
  __shared__ float part[2];
  const float* in = x + (size_t)blockIdx.x * N;
  float* out = y + (size_t)blockIdx.x * N;
  const int warp = threadIdx.x / 32;
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < N; i += 64) m = fmaxf(m, in[i]);
  m = all_max(m);
  if (threadIdx.x % 32 == 0) part[warp] = m;
  __syncthreads();
  m = fmaxf(part[0], part[1]);
  __syncthreads();
  for (int i = threadIdx.x; i < N; i += 64) s += expf(in[i] - m);
  s = all_sum(s);
  if (threadIdx.x % 32 == 0) part[warp] = s;
  __syncthreads();
  s = part[0] + part[1];
  if (N > 512 && warp == 1) return;
  for (int i = threadIdx.x; i < N; i += 64) out[i] = expf(in[i] - m) / s;
}
