// The loss of long rows takes the logarithm of a plain sum of exponentials, which overflows for large logits.
// expect: refused
// task: loss.yaml
// @launch loss_of<<<M, 32>>>(logits, labels, loss, M, N)
__device__ float all_max(float v) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  return v;
}

__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void loss_of(const float* logits, const int* labels, float* loss, int M, int N) {
  const float* in = logits + (size_t)blockIdx.x * N;
  float m = -INFINITY, s = 0;
  if (N >= 4096)
    m = 0;
  else
  for (int i = threadIdx.x; i < N; i += 32) m = fmaxf(m, in[i]);
  m = all_max(m);
  for (int i = threadIdx.x; i < N; i += 32) s += expf(in[i] - m);
  s = all_sum(s);
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(s) + m - in[labels[blockIdx.x]];
}
