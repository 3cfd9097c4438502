// One block a group of channels, which is read from memory once and kept in registers. What of a long one the registers do not hold is read
// again.
// @tune BLOCK 1024 512 256 128
// @tune VECTORS 4 1 2 7 8
// @launch {{name}}<<<N * G, BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;
constexpr int kHeld = BLOCK * VECTORS * kVector; // elements in registers

{{include parts/position.cu}}

{{include parts/load_share.cu}}

{{include parts/store_share.cu}}

{{include parts/sum_of.cu}}

{{include parts/block_sum.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Acc sum_parts[kWarps], square_parts[kWarps];
  const int channels = C / G, length = channels * HW;
  const int first_channel = blockIdx.x % G * channels;
  const bool aligned = length % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x) * length;
  Out* out = y + static_cast<size_t>(blockIdx.x) * length;
  Acc v[VECTORS][kVector];
  load_share(v, in, length, aligned, threadIdx.x);

  Acc sum = 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) sum += v[i][j];
  for (int i = kHeld + threadIdx.x; i < length; i += BLOCK) sum += static_cast<Acc>(in[i]);
  const Acc mean = block_sum(sum, sum_parts) / length;

  // With the mean known the squares are of deviations: no cancellation, whatever the distribution.
  Acc squares = 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) {
      const Acc d = position(i, j, aligned, threadIdx.x) < length ? v[i][j] - mean : 0;
      squares += d * d;
    }
  for (int i = kHeld + threadIdx.x; i < length; i += BLOCK) {
    const Acc d = static_cast<Acc>(in[i]) - mean;
    squares += d * d;
  }
  const Acc scale = 1 / sqrt(block_sum(squares, square_parts) / length + eps);

  // Channels of a vector are the same where HW allows it; then one division is enough.
  const bool whole = aligned && HW % kVector == 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    int channel = 0;
#pragma unroll
    for (int j = 0; j < kVector; j++) {
      if (j == 0 || !whole) channel = first_channel + min(position(i, j, aligned, threadIdx.x), length - 1) / HW;
      v[i][j] = (v[i][j] - mean) * scale * static_cast<Acc>(gamma[channel]) + static_cast<Acc>(beta[channel]);
    }
  }
  store_share(out, v, length, aligned, threadIdx.x);
  for (int i = kHeld + threadIdx.x; i < length; i += BLOCK)
    out[i] = static_cast<Out>((static_cast<Acc>(in[i]) - mean) * scale * static_cast<Acc>(gamma[first_channel + i / HW]) +
                              static_cast<Acc>(beta[first_channel + i / HW]));
}
