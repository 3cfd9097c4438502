// Rows whose length is a multiple of four are read four at a time, others one by one.
// expect: correct
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
  const size_t at = (size_t)blockIdx.x * N;
  if (N % 4 != 0) {
    softmax_row(x + at, y + at, N);
    return;
  }
  const float4* in = reinterpret_cast<const float4*>(x + at);
  float4* out = reinterpret_cast<float4*>(y + at);
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < N / 4; i += 32) m = fmaxf(m, fmaxf(fmaxf(in[i].x, in[i].y), fmaxf(in[i].z, in[i].w)));
  m = all_max(m);
  for (int i = threadIdx.x; i < N / 4; i += 32)
    s += (expf(in[i].x - m) + expf(in[i].y - m)) + (expf(in[i].z - m) + expf(in[i].w - m));
  s = all_sum(s);
  for (int i = threadIdx.x; i < N / 4; i += 32) {
    const float4 v = in[i];
    out[i] = make_float4(expf(v.x - m) / s, expf(v.y - m) / s, expf(v.z - m) / s, expf(v.w - m) / s);
  }
}
