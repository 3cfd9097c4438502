// The rms of a long row is summed in four parts.
// expect: correct
// task: rms.yaml
// @launch normalise<<<M, 32>>>(x, gamma, y, M, N, eps)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void normalise(const float* x, const float* gamma, float* y, int M, int N, float eps) {
  const float* in = x + (size_t)blockIdx.x * N;
  float square[4] = {0, 0, 0, 0};
  for (int i = threadIdx.x, turn = 0; i < N; i += 32, turn++) square[turn % 4] += in[i] * in[i];
  const float scale = rsqrtf(all_sum(square[0] + square[1] + square[2] + square[3]) / N + eps);
  for (int i = threadIdx.x; i < N; i += 32) y[(size_t)blockIdx.x * N + i] = in[i] * scale * gamma[i];
}
