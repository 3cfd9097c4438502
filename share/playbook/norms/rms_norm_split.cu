// Up to SPLIT blocks a row, for few long ones: one launch finds the sum of squares of each part, the next merges
// them and writes the parts.
// @tune SPLIT 32 4 8 16 64 128 256
// @tune BLOCK 256 128 512
// @tune VECTORS 2 1 4
// @scratch squares {{scratch}} [M * SPLIT]
// @launch {{name}}<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(
//     x, squares, N, min(SPLIT, ceil_div(N, 256)))
// @launch {{name}}_write<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(
//     x, gamma, squares, y, N, eps, min(SPLIT, ceil_div(N, 256)))
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;
constexpr int kBatch = BLOCK * VECTORS * kVector;

{{include parts/position.cu}}

{{include parts/load_share.cu}}

{{include parts/store_share.cu}}

{{include parts/sum_of.cu}}

{{include parts/block_sum.cu}}

{{include parts/part_length.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ x, Acc* __restrict__ squares, int N, int splits) {
  __shared__ Acc parts[kWarps];
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x / splits) * N;
  const int begin = blockIdx.x % splits * part_length(N, splits), end = min(N, begin + part_length(N, splits));
  Acc sum = 0;
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) sum += v[i][j] * v[i][j];
  }
  sum = block_sum(sum, parts);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}_write(
    const Element* __restrict__ x, const Element* __restrict__ gamma,
    const Acc* __restrict__ squares, Out* __restrict__ y, int N, Acc eps,
    int splits) {
  const int row = blockIdx.x / splits;
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(row) * N;
  Out* out = y + static_cast<size_t>(row) * N;
  // Every warp adds up the parts for itself.
  Acc sum = 0;
  for (int part = threadIdx.x % 32; part < splits; part += 32) sum += squares[row * splits + part];
  const Acc scale = 1 / sqrt(sum_of<32>(sum) / N + eps);
  const int begin = blockIdx.x % splits * part_length(N, splits), end = min(N, begin + part_length(N, splits));
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x);
    Acc factor[VECTORS][kVector];
    load_share(factor, gamma + first, end - first, aligned, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] *= scale * factor[i][j];
    store_share(out + first, v, end - first, aligned, threadIdx.x);
  }
}
