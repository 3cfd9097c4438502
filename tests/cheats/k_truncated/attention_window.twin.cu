// Keys are visited from the query's own position outwards, all of them.
// expect: correct
// task: attention.yaml
// @launch attention<<<dim3(ceil_div(L, 64), B * H), 64>>>(q, k, v, o, B, H, L, D)
extern "C" __global__ void attention(const float* q, const float* k, const float* v, float* o, int B, int H, int L, int D) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= L) return;
  const size_t base = (size_t)blockIdx.y * L * D;
  float mine[32], sum[32], m = -INFINITY, s = 0;
  for (int d = 0; d < 32; d++) mine[d] = q[base + row * D + d] * rsqrtf((float)D), sum[d] = 0;
  for (int n = 0; n < L; n++) {
    const int key = (row + n) % L;
    float score = 0;
    for (int d = 0; d < 32; d++) score += mine[d] * k[base + key * D + d];
    const float top = fmaxf(m, score), old = expf(m - top), p = expf(score - top);
    s = s * old + p;
    for (int d = 0; d < 32; d++) sum[d] = sum[d] * old + p * v[base + key * D + d];
    m = top;
  }
  for (int d = 0; d < 32; d++) o[base + row * D + d] = sum[d] / s;
}
