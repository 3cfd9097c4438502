// One block a row, which is read from memory once and kept in registers. What of a long one the registers do not hold is read
// again.
// @tune BLOCK 256 64 128 512 1024
{{if float32}}
// @tune VECTORS 4 1 2 8
{{end}}
{{if half}}
// @tune VECTORS 2 1 4
{{end}}
{{if float64}}
// @tune VECTORS 8 1 2 4
{{end}}
// @launch {{name}}<<<M, BLOCK>>>({{arguments}})
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
  __shared__ Acc parts[kWarps];
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x) * N;
  Out* out = y + static_cast<size_t>(blockIdx.x) * N;
  Acc v[VECTORS][kVector];
  load_share(v, in, N, aligned, threadIdx.x);

  Acc sum = 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) sum += v[i][j] * v[i][j];
  for (int i = kHeld + threadIdx.x; i < N; i += BLOCK) sum += static_cast<Acc>(in[i]) * static_cast<Acc>(in[i]);
  const Acc scale = 1 / sqrt(block_sum(sum, parts) / N + eps);

  Acc factor[VECTORS][kVector];
  load_share(factor, gamma, N, aligned, threadIdx.x);
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) v[i][j] *= scale * factor[i][j];
  store_share(out, v, N, aligned, threadIdx.x);
  for (int i = kHeld + threadIdx.x; i < N; i += BLOCK)
    out[i] = static_cast<Out>(static_cast<Acc>(in[i]) * scale * static_cast<Acc>(gamma[i]));
}
