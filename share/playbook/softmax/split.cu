// Up to SPLIT blocks a row, for few long rows: one launch finds each part's maximum and sum, the next merges them and writes the parts.
// @tune SPLIT 32 4 8 16 64 128 256
// @tune BLOCK 256 128 512
// @tune VECTORS 2 1 4
// @scratch largests {{scratch}} [M * SPLIT]
// @scratch sums {{scratch}} [M * SPLIT]
// @launch {{name}}<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(x, largests, sums, N, min(SPLIT, ceil_div(N, 256)))
// @launch {{name}}_write<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(x, largests, sums, y, N, min(SPLIT, ceil_div(N, 256)))
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

// Elements of a row a block takes: whole vectors, so that all parts begin aligned if the row does.
__device__ __forceinline__ int part_length(int N, int splits) {
  return (N + splits * kVector - 1) / (splits * kVector) * kVector;
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ x, Acc* __restrict__ largests, Acc* __restrict__ sums, int N, int splits) {
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x / splits) * N;
  const int begin = blockIdx.x % splits * part_length(N, splits), end = min(N, begin + part_length(N, splits));
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x, -static_cast<Acc>(INFINITY));
    take_batch(largest, sum, v);
  }
  if (begin < end) merge_block(largest, sum);
  if (threadIdx.x == 0) {
    largests[blockIdx.x] = largest;
    sums[blockIdx.x] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}_write(
    const Element* __restrict__ x, const Acc* __restrict__ largests, const Acc* __restrict__ sums, Out* __restrict__ y, int N,
    int splits) {
  const bool aligned = N % kVector == 0;
  const int row = blockIdx.x / splits;
  const Element* in = x + static_cast<size_t>(row) * N;
  Out* out = y + static_cast<size_t>(row) * N;
  // Every warp merges the row's parts for itself; a part behind the row's end has the sum 0.
  const int lane = threadIdx.x % 32;
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int part = lane; part < splits; part += 32) largest = fmax(largest, largests[row * splits + part]);
  largest = largest_of<32>(largest);
  for (int part = lane; part < splits; part += 32) sum += sums[row * splits + part] * exp(largests[row * splits + part] - largest);
  sum = sum_of<32>(sum);
{{if log_softmax}}
  const Acc log_sum = log(sum);
{{else}}
  const Acc scale = 1 / sum;
{{end}}
  const int begin = blockIdx.x % splits * part_length(N, splits), end = min(N, begin + part_length(N, splits));
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x, 0);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
{{if log_softmax}}
      for (int j = 0; j < kVector; j++) v[i][j] = v[i][j] - largest - log_sum;
{{else}}
      for (int j = 0; j < kVector; j++) v[i][j] = exp(v[i][j] - largest) * scale;
{{end}}
    store_share(out + first, v, end - first, aligned, threadIdx.x);
  }
}
