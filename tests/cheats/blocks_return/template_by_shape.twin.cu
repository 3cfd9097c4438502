// A template argument made from the shape chooses vector accesses where rows allow them.
// expect: correct
// @launch softmax<(N % 4 == 0)><<<M, 32>>>(x, y, M, N)
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

template <bool VARIANT> __global__ void softmax(const float* x, float* y, int M, int N) {
  const size_t at = (size_t)blockIdx.x * N;
  if (!VARIANT) {
    softmax_row(x + at, y + at, N);
    return;
  }
  const float4* in = reinterpret_cast<const float4*>(x + at);
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < N / 4; i += 32) {
    const float4 v = in[i];
    m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  m = all_max(m);
  for (int i = threadIdx.x; i < N; i += 32) s += expf(x[at + i] - m);
  s = all_sum(s);
  for (int i = threadIdx.x; i < N; i += 32) y[at + i] = expf(x[at + i] - m) / s;
}
