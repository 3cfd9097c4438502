// One block a group of channels of any length, in batches of VECTORS accesses of 16 bytes a thread. The first pass
// merges the moments of batches; the second finds the row in L1 or L2.
// @tune BLOCK 1024 256 512
// @tune VECTORS 2 1 4
// @launch {{name}}<<<N * G, BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;
constexpr int kBatch = BLOCK * VECTORS * kVector;

{{include parts/position.cu}}

{{include parts/load_share.cu}}

{{include parts/store_share.cu}}

{{include parts/moments.cu}}

{{include parts/moments_of.cu}}

{{include parts/merge_lanes.cu}}

{{include parts/merge_block.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int channels = C / G, length = channels * HW;
  const int first_channel = blockIdx.x % G * channels;
  const bool aligned = length % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x) * length;
  Out* out = y + static_cast<size_t>(blockIdx.x) * length;
  Moments all = {0, 0, 0};
  for (int first = 0; first < length; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, length - first, aligned, threadIdx.x);
    all = merge(all, moments_of(v, length - first, aligned, threadIdx.x));
  }
  all = merge_block(all);
  const Acc mean = all.mean, scale = 1 / sqrt(all.squares / length + eps);
  for (int first = 0; first < length; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, length - first, aligned, threadIdx.x);
    // Channels of a vector are the same where HW allows it; then one division is enough.
    const bool whole = aligned && HW % kVector == 0;
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      int channel = 0;
#pragma unroll
      for (int j = 0; j < kVector; j++) {
        if (j == 0 || !whole) channel = first_channel + min(first + position(i, j, aligned, threadIdx.x), length - 1) / HW;
        v[i][j] = (v[i][j] - mean) * scale * static_cast<Acc>(gamma[channel]) + static_cast<Acc>(beta[channel]);
      }
    }
    store_share(out + first, v, length - first, aligned, threadIdx.x);
  }
}
