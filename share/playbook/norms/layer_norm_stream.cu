// One block a row of any length, in batches of VECTORS accesses of 16 bytes a thread. The first pass
// merges the moments of batches; the second finds the row in L1 or L2.
// @tune BLOCK 256 128 512 1024
// @tune VECTORS 2 1 4
// @launch {{name}}<<<M, BLOCK>>>({{arguments}})
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
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x) * N;
  Out* out = y + static_cast<size_t>(blockIdx.x) * N;
  Moments all = {0, 0, 0};
  for (int first = 0; first < N; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, N - first, aligned, threadIdx.x);
    all = merge(all, moments_of(v, N - first, aligned, threadIdx.x));
  }
  all = merge_block(all);
  const Acc mean = all.mean, scale = 1 / sqrt(all.squares / N + eps);
  for (int first = 0; first < N; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, N - first, aligned, threadIdx.x);
    Acc factor[VECTORS][kVector];
    load_share(factor, gamma + first, N - first, aligned, threadIdx.x);
    Acc shift[VECTORS][kVector];
    load_share(shift, beta + first, N - first, aligned, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] = (v[i][j] - mean) * scale * factor[i][j] + shift[i][j];
    store_share(out + first, v, N - first, aligned, threadIdx.x);
  }
}
