// Up to SPLIT blocks a group of channels, for few long ones: one launch finds the moments of each part, the next merges
// them and writes the parts.
// @tune SPLIT 32 4 8 16 64 128 256
// @tune BLOCK 256 128 512
// @tune VECTORS 2 1 4
// @scratch means {{scratch}} [N * G * SPLIT]
// @scratch squares {{scratch}} [N * G * SPLIT]
// @launch {{name}}<<<N * G * min(SPLIT, ceil_div(C / G * HW, 256)), BLOCK>>>(
//     x, means, squares, N, C, HW, G, min(SPLIT, ceil_div(C / G * HW, 256)))
// @launch {{name}}_write<<<N * G * min(SPLIT, ceil_div(C / G * HW, 256)), BLOCK>>>(
//     x, gamma, beta, means, squares, y, N, C, HW, G, eps, min(SPLIT, ceil_div(C / G * HW, 256)))
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

{{include parts/part_length.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ x, Acc* __restrict__ means, Acc* __restrict__ squares, int N, int C, int HW, int G, int splits) {
  const int length = C / G * HW;
  const bool aligned = length % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x / splits) * length;
  const int begin = blockIdx.x % splits * part_length(length, splits), end = min(length, begin + part_length(length, splits));
  Moments all = {0, 0, 0};
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x);
    all = merge(all, moments_of(v, end - first, aligned, threadIdx.x));
  }
  all = merge_block(all);
  if (threadIdx.x == 0) {
    means[blockIdx.x] = all.mean;
    squares[blockIdx.x] = all.squares;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}_write(
    const Element* __restrict__ x, const Element* __restrict__ gamma, const Element* __restrict__ beta,
    const Acc* __restrict__ means, const Acc* __restrict__ squares, Out* __restrict__ y, int N, int C, int HW, int G, Acc eps,
    int splits) {
  const int row = blockIdx.x / splits;
  const int channels = C / G, length = channels * HW;
  const int first_channel = row % G * channels;
  const bool aligned = length % kVector == 0;
  const Element* in = x + static_cast<size_t>(row) * length;
  Out* out = y + static_cast<size_t>(row) * length;
  // Every warp merges the parts for itself.
  Moments all = {0, 0, 0};
  for (int part = threadIdx.x % 32; part < splits; part += 32) {
    const int count = min(part_length(length, splits), length - part * part_length(length, splits));
    all = merge(all, {static_cast<Acc>(max(count, 0)), means[row * splits + part], squares[row * splits + part]});
  }
  all = merge_lanes<32>(all);
  const Acc mean = all.mean, scale = 1 / sqrt(all.squares / length + eps);
  const int begin = blockIdx.x % splits * part_length(length, splits), end = min(length, begin + part_length(length, splits));
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x);
    // Channels of a vector are the same where HW allows it; then one division is enough.
    const bool whole = aligned && HW % kVector == 0;
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      int channel = 0;
#pragma unroll
      for (int j = 0; j < kVector; j++) {
        if (j == 0 || !whole) channel = first_channel + min(first + position(i, j, aligned, threadIdx.x), end - 1) / HW;
        v[i][j] = (v[i][j] - mean) * scale * static_cast<Acc>(gamma[channel]) + static_cast<Acc>(beta[channel]);
      }
    }
    store_share(out + first, v, end - first, aligned, threadIdx.x);
  }
}
