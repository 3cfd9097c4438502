// task: ../tasks/attention_f32.yaml
// expect: race_or_sync_error
// bug: weights of other lanes are read without a warp barrier
// @launch flash<<<dim3(ceil_div(L, 4), B * H), dim3(32, 4), (2 * 32 * (D + 1) + 2 * 4 * D + 4 * 32) * 4>>>(q, k, v, o, L, D, causal)
extern "C" __global__ void flash(const float* q, const float* k, const float* v, float* o, int L, int D, int causal) {
  extern __shared__ float memory[];
  const int stride = D + 1;
  float* k_tile = memory;
  float* v_tile = k_tile + 32 * stride;
  const int lane = threadIdx.x, warp = threadIdx.y, tid = warp * 32 + lane;
  float* query = v_tile + 32 * stride + warp * D;
  float* out = v_tile + 32 * stride + 4 * D + warp * D;
  float* weight = v_tile + 32 * stride + 8 * D + warp * 32;
  const size_t base = static_cast<size_t>(blockIdx.y) * L * D;
  const int i = blockIdx.x * 4 + warp;
  const float scale = rsqrtf(static_cast<float>(D));
  for (int d = lane; d < D; d += 32) {
    query[d] = i < L ? q[base + static_cast<size_t>(i) * D + d] * scale : 0.0f;
    out[d] = 0.0f;
  }
  __syncwarp();
  float largest = -INFINITY, sum = 0.0f;
  const int end = causal ? min(L, blockIdx.x * 4 + 4) : L;
  for (int j0 = 0; j0 < end; j0 += 32) {
    for (int t = tid; t < 32 * D; t += 128) {
      const int j = t / D, d = t % D;
      const bool inside = j0 + j < L;
      k_tile[j * stride + d] = inside ? k[base + static_cast<size_t>(j0 + j) * D + d] : 0.0f;
      v_tile[j * stride + d] = inside ? v[base + static_cast<size_t>(j0 + j) * D + d] : 0.0f;
    }
    __syncthreads();
    const int j = j0 + lane;
    float score = -INFINITY;
    if (j < L && (!causal || j <= i)) {
      score = 0.0f;
      for (int d = 0; d < D; d++) score += query[d] * k_tile[lane * stride + d];
    }
    float tile_max = score;
    for (int offset = 16; offset > 0; offset /= 2)
      tile_max = fmaxf(tile_max, __shfl_xor_sync(0xffffffffu, tile_max, offset));
    const float next = fmaxf(largest, tile_max);
    const float p = score == -INFINITY ? 0.0f : expf(score - next);
    const float keep = largest == -INFINITY ? 0.0f : expf(largest - next);
    float tile_sum = p;
    for (int offset = 16; offset > 0; offset /= 2) tile_sum += __shfl_xor_sync(0xffffffffu, tile_sum, offset);
    sum = sum * keep + tile_sum;
    largest = next;
    weight[lane] = p;
    for (int d = lane; d < D; d += 32) {
      float acc = out[d] * keep;
      for (int t = 0; t < 32; t++) acc += weight[t] * v_tile[t * stride + d];
      out[d] = acc;
    }
    __syncthreads();
  }
  if (i < L)
    for (int d = lane; d < D; d += 32) o[base + static_cast<size_t>(i) * D + d] = out[d] / sum;
}
