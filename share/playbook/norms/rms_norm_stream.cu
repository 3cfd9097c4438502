// One block a row of any length, in batches of VECTORS accesses of 16 bytes a thread. The first pass
// adds up squares; the second finds the row in L1 or L2.
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

{{include parts/sum_of.cu}}

{{include parts/block_sum.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Acc parts[kWarps];
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x) * N;
  Out* out = y + static_cast<size_t>(blockIdx.x) * N;
  Acc sum = 0;
  for (int first = 0; first < N; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, N - first, aligned, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) sum += v[i][j] * v[i][j];
  }
  const Acc scale = 1 / sqrt(block_sum(sum, parts) / N + eps);
  for (int first = 0; first < N; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, N - first, aligned, threadIdx.x);
    Acc factor[VECTORS][kVector];
    load_share(factor, gamma + first, N - first, aligned, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] *= scale * factor[i][j];
    store_share(out + first, v, N - first, aligned, threadIdx.x);
  }
}
