// LANES lanes of a warp a row, which stays in their registers: no barrier, no shared memory,
// several a block. What the registers do not hold is read again.
// @tune LANES 32 16 8
// @tune BLOCK 128 64 256
// @tune VECTORS 4 1 2 8
// @launch {{name}}<<<ceil_div(M, BLOCK / LANES), BLOCK>>>({{arguments}})
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
  const int length = row < M ? N : 0; // behind the last row lanes only keep their neighbours company in the shuffles
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(row) * N;
  Out* out = y + static_cast<size_t>(row) * N;
  Acc v[VECTORS][kVector];
  load_share(v, in, length, aligned, lane);

  Acc sum = 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) sum += v[i][j] * v[i][j];
  for (int i = kHeld + lane; i < length; i += LANES) sum += static_cast<Acc>(in[i]) * static_cast<Acc>(in[i]);
  const Acc scale = 1 / sqrt(sum_of<LANES>(sum) / N + eps);

  Acc factor[VECTORS][kVector];
  load_share(factor, gamma, length, aligned, lane);
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) v[i][j] *= scale * factor[i][j];
  store_share(out, v, length, aligned, lane);
  for (int i = kHeld + lane; i < length; i += LANES)
    out[i] = static_cast<Out>(static_cast<Acc>(in[i]) * scale * static_cast<Acc>(gamma[i]));
}
