// Up to SPLIT blocks a row, for few long rows: one launch adds up the parts of a row, the next adds what comes before a part and writes it.
// @tune SPLIT 32 4 8 16 64 128 256
{{if half}}
// @tune BLOCK 128 256 512 64
// @tune VECTORS 4 1 2 8
{{else}}
// @tune BLOCK 256 128 512 1024
// @tune VECTORS 4 1 2 8
{{end}}
// @where BLOCK * VECTORS <= 1024
// @scratch sums {{scratch}} [M * SPLIT]
// @launch {{name}}<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(x, sums, N, min(SPLIT, ceil_div(N, 256)))
// @launch {{name}}_write<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(x, sums, y, N, min(SPLIT, ceil_div(N, 256)))
{{types}}
constexpr int kVector = 16 / sizeof(Out); // elements in an access of 16 bytes to y
{{if int8}}
using Access = unsigned; // as many of x
{{else}}
using Access = uint4; // as many of x
{{end}}
constexpr int kWarps = BLOCK / 32;
constexpr int kParts = VECTORS * kWarps; // sums of warps in a tile
constexpr int kTile = BLOCK * VECTORS * kVector;

{{include parts/load_tile.cu}}

{{include parts/store_tile.cu}}

{{include parts/running_sum.cu}}

{{include parts/scan_tile.cu}}

{{include parts/sum_of.cu}}

// Elements of a row a block takes: whole vectors, and enough for a row that begins between two of them.
__device__ __forceinline__ int part_length(int N, int splits) {
  return (N + kVector - 1 + splits * kVector - 1) / (splits * kVector) * kVector;
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ x, Acc* __restrict__ sums, int N, int splits) {
  __shared__ Acc parts[kWarps];
  const size_t start = static_cast<size_t>(blockIdx.x / splits) * N;
  const int skew = static_cast<int>(start % kVector); // tiles begin at multiples of 16 bytes
  const int begin = blockIdx.x % splits * part_length(N, splits) - skew, end = min(N, begin + part_length(N, splits));
  Acc sum = 0;
  for (int first = begin; first < end; first += kTile) {
    Acc v[VECTORS][kVector];
    load_tile(v, x + start, first, end, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) sum += v[i][j];
  }
  sum = sum_of<32>(sum);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = sum_of<kWarps>(parts[threadIdx.x % kWarps]);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}_write(
    const Element* __restrict__ x, const Acc* __restrict__ sums, Out* __restrict__ y, int N, int splits) {
  __shared__ Acc parts[2][kParts]; // in turn, so that the next tile need not wait until all have read this one's
  const int part = blockIdx.x % splits;
  const size_t start = static_cast<size_t>(blockIdx.x / splits) * N;
  const int skew = static_cast<int>(start % kVector); // tiles begin at multiples of 16 bytes
  Acc carry = 0; // every warp adds up the parts before this one for itself
  for (int i = threadIdx.x % 32; i < part; i += 32) carry += sums[blockIdx.x - part + i];
  carry = sum_of<32>(carry);
  const int begin = part * part_length(N, splits) - skew, end = min(N, begin + part_length(N, splits));
  int turn = 0;
  for (int first = begin; first < end; first += kTile) {
    Acc v[VECTORS][kVector], before[VECTORS];
    load_tile(v, x + start, first, end, threadIdx.x);
    const Acc sum = scan_tile(v, before, parts[turn]);
#pragma unroll
    for (int i = 0; i < VECTORS; i++) before[i] += carry;
    store_tile(y + start, v, before, first, end, threadIdx.x);
    carry += sum;
    turn = 1 - turn;
  }
}
