// task: ../tasks/layer_norm_f32.yaml
// expect: correctness_mismatch
// bug: the difference of the means is left out of the merge
// @launch layer_norm_welford<<<M, 32>>>(x, gamma, beta, y, M, N, eps)
struct Moments {
  float count, mean, m2;
};

__device__ Moments merge(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0.0f) return a;
  const float delta = b.mean - a.mean, weight = b.count / count;
  return {count, a.mean + delta * weight, a.m2 + b.m2};
}

extern "C" __global__ void layer_norm_welford(const float* x, const float* gamma, const float* beta, float* y, int M,
                                              int N, float eps) {
  const float* in = x + static_cast<size_t>(blockIdx.x) * N;
  Moments mine = {0.0f, 0.0f, 0.0f};
  for (int i = threadIdx.x; i < N; i += 32) {
    const float delta = in[i] - mine.mean;
    mine.count += 1.0f;
    mine.mean += delta / mine.count;
    mine.m2 += delta * (in[i] - mine.mean);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const Moments other = {__shfl_xor_sync(0xffffffffu, mine.count, offset),
                           __shfl_xor_sync(0xffffffffu, mine.mean, offset),
                           __shfl_xor_sync(0xffffffffu, mine.m2, offset)};
    // Both lanes of a pair merge in the same order, so that all end with the same bits.
    mine = threadIdx.x & offset ? merge(other, mine) : merge(mine, other);
  }
  const float scale = rsqrtf(mine.m2 / N + eps);
  for (int i = threadIdx.x; i < N; i += 32)
    y[static_cast<size_t>(blockIdx.x) * N + i] = (in[i] - mine.mean) * scale * gamma[i] + beta[i];
}
