// task: ../tasks/attention_f32.yaml
// expect: correctness_mismatch
// bug: the last key is left out of the sum
// @launch attention_naive<<<dim3(ceil_div(L, 32), B * H), 32>>>(q, k, v, o, L, D, causal)
extern "C" __global__ void attention_naive(const float* q, const float* k, const float* v, float* o, int L, int D,
                                           int causal) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= L) return;
  const size_t base = static_cast<size_t>(blockIdx.y) * L * D;
  const float scale = 1.0f / sqrtf(static_cast<float>(D));
  const int last = causal ? i + 1 : L;
  float largest = -INFINITY;
  for (int j = 0; j < last; j++) {
    float s = 0.0f;
    for (int d = 0; d < D; d++) s += q[base + i * D + d] * k[base + j * D + d];
    largest = fmaxf(largest, s * scale);
  }
  float sum = 0.0f;
  for (int d = 0; d < D; d++) o[base + i * D + d] = 0.0f;
  for (int j = 0; j < last; j++) {
    float s = 0.0f;
    for (int d = 0; d < D; d++) s += q[base + i * D + d] * k[base + j * D + d];
    const float p = expf(s * scale - largest);
    if (j + 1 < last || last == 1) sum += p;
    for (int d = 0; d < D; d++) o[base + i * D + d] += p * v[base + j * D + d];
  }
  for (int d = 0; d < D; d++) o[base + i * D + d] /= sum;
}
