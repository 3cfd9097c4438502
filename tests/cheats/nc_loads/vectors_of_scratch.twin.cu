// Exponentials in scratch are loaded again four at a time through L2.
// expect: correct
// @scratch kept float [M * (ceil_div(N, 4) * 4)]
// @launch softmax<<<M, 32>>>(x, y, kept, N)
__device__ float all_max(float v) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  return v;
}

__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void softmax(const float* x, float* y, float* kept, int N) {
  const size_t at = (size_t)blockIdx.x * N, room = (size_t)blockIdx.x * ((N + 3) / 4 * 4);
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < N; i += 32) m = fmaxf(m, x[at + i]);
  m = all_max(m);
  for (int i = threadIdx.x; i < (N + 3) / 4 * 4; i += 32) s += kept[room + i] = i < N ? expf(x[at + i] - m) : 0.0f;
  s = all_sum(s);
  __syncwarp();
  for (int i = 4 * threadIdx.x; i < N; i += 128) {
    const float4 four = __ldcg((const float4*)(kept + room + i));
    y[at + i] = four.x / s;
    if (i + 1 < N) y[at + i + 1] = four.y / s;
    if (i + 2 < N) y[at + i + 2] = four.z / s;
    if (i + 3 < N) y[at + i + 3] = four.w / s;
  }
}
