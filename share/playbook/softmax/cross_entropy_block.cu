// One block a row of any length, read once in batches of VECTORS accesses of 16 bytes a thread; a running maximum and the sum of
// exponentials relative to it are all that is kept.
// @tune BLOCK 128 256 512 1024
{{if float64}}
// @tune VECTORS 8 2 4
{{else}}
// @tune VECTORS 2 1 4
{{end}}
// @launch {{name}}<<<M, BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;
constexpr int kBatch = BLOCK * VECTORS * kVector;

{{include parts/load_share.cu}}

{{include parts/largest_of.cu}}

{{include parts/sum_of.cu}}

{{include parts/take_batch.cu}}

{{include parts/merge_block.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const bool aligned = N % kVector == 0;
  const Element* in = logits + static_cast<size_t>(blockIdx.x) * N;
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int first = 0; first < N; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, N - first, aligned, threadIdx.x, -static_cast<Acc>(INFINITY));
    take_batch(largest, sum, v);
  }
  merge_block(largest, sum);
  if (threadIdx.x == 0)
    loss[blockIdx.x] = static_cast<Out>(log(sum) + largest - static_cast<Acc>(in[labels[blockIdx.x]]));
}
