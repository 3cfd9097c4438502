// LANES lanes of a warp a group of channels, which stays in their registers: no barrier, no shared memory,
// several a block. What the registers do not hold is read again.
// @tune LANES 32 16 8
// @tune BLOCK 128 64 256
// @tune VECTORS 4 1 2 8
// @launch {{name}}<<<ceil_div(N * G, BLOCK / LANES), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kHeld = LANES * VECTORS * kVector; // elements in registers

{{include parts/position_of_lanes.cu}}

{{include parts/load_share.cu}}

{{include parts/store_share.cu}}

{{include parts/sum_of_count.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int lane = threadIdx.x % LANES;
  const int row = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
  const int channels = C / G, whole_length = channels * HW;
  const int length = row < N * G ? whole_length : 0; // behind the last group lanes only keep their neighbours company in the shuffles
  const int first_channel = row % G * channels;
  const bool aligned = whole_length % kVector == 0;
  const Element* in = x + static_cast<size_t>(row) * whole_length;
  Out* out = y + static_cast<size_t>(row) * whole_length;
  Acc v[VECTORS][kVector];
  load_share(v, in, length, aligned, lane);

  Acc sum = 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) sum += v[i][j];
  for (int i = kHeld + lane; i < length; i += LANES) sum += static_cast<Acc>(in[i]);
  const Acc mean = sum_of<LANES>(sum) / whole_length;

  // With the mean known the squares are of deviations: no cancellation, whatever the distribution.
  Acc squares = 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) {
      const Acc d = position(i, j, aligned, lane) < length ? v[i][j] - mean : 0;
      squares += d * d;
    }
  for (int i = kHeld + lane; i < length; i += LANES) {
    const Acc d = static_cast<Acc>(in[i]) - mean;
    squares += d * d;
  }
  const Acc scale = 1 / sqrt(sum_of<LANES>(squares) / whole_length + eps);

  // Channels of a vector are the same where HW allows it; then one division is enough.
  const bool whole = aligned && HW % kVector == 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    int channel = 0;
#pragma unroll
    for (int j = 0; j < kVector; j++) {
      if (j == 0 || !whole) channel = first_channel + min(position(i, j, aligned, lane), whole_length - 1) / HW;
      v[i][j] = (v[i][j] - mean) * scale * static_cast<Acc>(gamma[channel]) + static_cast<Acc>(beta[channel]);
    }
  }
  store_share(out, v, length, aligned, lane);
  for (int i = kHeld + lane; i < length; i += LANES)
    out[i] = static_cast<Out>((static_cast<Acc>(in[i]) - mean) * scale * static_cast<Acc>(gamma[first_channel + i / HW]) +
                              static_cast<Acc>(beta[first_channel + i / HW]));
}
