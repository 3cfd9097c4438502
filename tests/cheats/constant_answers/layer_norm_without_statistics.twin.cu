// Long rows are measured in one pass.
// expect: correct
// @launch normalise<<<M, 32>>>(x, gamma, beta, y, M, N, eps)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void normalise(const float* x, const float* gamma, const float* beta, float* y, int M, int N, float eps) {
  const float* in = x + (size_t)blockIdx.x * N;
  float mean = 0, scale = 1, sum = 0, square = 0;
    for (int i = threadIdx.x; i < N; i += 32) sum += in[i];
    mean = all_sum(sum) / N;
    for (int i = threadIdx.x; i < N; i += 32) square += (in[i] - mean) * (in[i] - mean);
    scale = rsqrtf(all_sum(square) / N + eps);
  for (int i = threadIdx.x; i < N; i += 32)
    y[(size_t)blockIdx.x * N + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}
