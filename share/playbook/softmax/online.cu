// One block a row of any length, in batches of VECTORS accesses of 16 bytes a thread. The first pass keeps a running maximum and the sum
// relative to it; the second finds the row in L1 or L2.
// @tune BLOCK 256 128 512 1024
// @tune VECTORS 2 1 4
// @launch {{name}}<<<M, BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;
constexpr int kBatch = BLOCK * VECTORS * kVector;

{{include parts/load_share.cu}}

{{include parts/store_share.cu}}

{{include parts/largest_of.cu}}

{{include parts/sum_of.cu}}

{{include parts/take_batch.cu}}

{{include parts/merge_block.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x) * N;
  Out* out = y + static_cast<size_t>(blockIdx.x) * N;
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int first = 0; first < N; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, N - first, aligned, threadIdx.x, -static_cast<Acc>(INFINITY));
    take_batch(largest, sum, v);
  }
  merge_block(largest, sum);
{{if log_softmax}}
  const Acc log_sum = log(sum);
{{else}}
  const Acc scale = 1 / sum;
{{end}}
  for (int first = 0; first < N; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, N - first, aligned, threadIdx.x, 0);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
{{if log_softmax}}
      for (int j = 0; j < kVector; j++) v[i][j] = v[i][j] - largest - log_sum;
{{else}}
      for (int j = 0; j < kVector; j++) v[i][j] = exp(v[i][j] - largest) * scale;
{{end}}
    store_share(out + first, v, N - first, aligned, threadIdx.x);
  }
}
