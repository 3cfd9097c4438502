// Up to SPLIT blocks a row, for few long rows: one launch finds each part's maximum and sum, the next merges them, one warp a row.
// @tune SPLIT 32 4 8 16 64 128 256
// @tune BLOCK 256 128 512
// @tune VECTORS 4 1 2
// @scratch largests {{scratch}} [M * SPLIT]
// @scratch sums {{scratch}} [M * SPLIT]
// @launch {{name}}<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(logits, largests, sums, N, min(SPLIT, ceil_div(N, 256)))
// @launch {{name}}_finish<<<ceil_div(M, 4), 128>>>(
//     logits, labels, largests, sums, loss, M, N, min(SPLIT, ceil_div(N, 256)))
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
    const Element* __restrict__ logits, Acc* __restrict__ largests, Acc* __restrict__ sums, int N, int splits) {
  const bool aligned = N % kVector == 0;
  const Element* in = logits + static_cast<size_t>(blockIdx.x / splits) * N;
  // Parts of whole vectors, so that all begin aligned if the row does.
  const int part = (N + splits * kVector - 1) / (splits * kVector) * kVector;
  const int begin = blockIdx.x % splits * part, end = min(N, begin + part);
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

extern "C" __global__ void {{name}}_finish(
    const Element* __restrict__ logits, const int* __restrict__ labels, const Acc* __restrict__ largests, const Acc* __restrict__ sums,
    Out* __restrict__ loss, int M, int N, int splits) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= M) return;
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int part = lane; part < splits; part += 32) largest = fmax(largest, largests[row * splits + part]);
  largest = largest_of<32>(largest);
  for (int part = lane; part < splits; part += 32) sum += sums[row * splits + part] * exp(largests[row * splits + part] - largest);
  sum = sum_of<32>(sum);
  if (lane == 0) loss[row] = static_cast<Out>(log(sum) + largest - static_cast<Acc>(logits[static_cast<size_t>(row) * N + labels[row]]));
}
