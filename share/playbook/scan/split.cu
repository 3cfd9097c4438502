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

// A thread's part of a tile that begins `first` elements into the row: VECTORS pieces of kVector elements side by side, 0 outside the row.
// `first` is negative in the first tile of a row that begins between two multiples of 16 bytes; only pieces over the row's ends go by
// single elements.
__device__ __forceinline__ void load_tile(Acc (&v)[VECTORS][kVector], const Element* row, int first, int end, int thread) {
  Access bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const int at = first + (i * BLOCK + thread) * kVector;
    if (at >= 0 && at + kVector <= end) bits[i] = *reinterpret_cast<const Access*>(row + at);
  }
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const int at = first + (i * BLOCK + thread) * kVector;
    if (at >= 0 && at + kVector <= end) {
      Element element[kVector];
      memcpy(element, &bits[i], sizeof element);
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] = static_cast<Acc>(element[j]);
    } else {
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] = at + j >= 0 && at + j < end ? static_cast<Acc>(row[at + j]) : 0;
    }
  }
}

__device__ __forceinline__ void store_tile(Out* row, const Acc (&v)[VECTORS][kVector], const Acc (&before)[VECTORS], int first, int end,
                                           int thread) {
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const int at = first + (i * BLOCK + thread) * kVector;
    Out element[kVector];
#pragma unroll
    for (int j = 0; j < kVector; j++) element[j] = static_cast<Out>(before[i] + v[i][j]);
    if (at >= 0 && at + kVector <= end) {
      uint4 bits;
      memcpy(&bits, element, sizeof bits);
      *reinterpret_cast<uint4*>(row + at) = bits;
    } else {
#pragma unroll
      for (int j = 0; j < kVector; j++)
        if (at + j >= 0 && at + j < end) row[at + j] = element[j];
    }
  }
}

// The sum of this lane's value and those of the lanes before it, among COUNT neighbouring lanes.
template <int COUNT>
__device__ __forceinline__ Acc running_sum(Acc v) {
  const int lane = threadIdx.x % COUNT;
#pragma unroll
  for (int offset = 1; offset < COUNT; offset *= 2) {
    const Acc other = __shfl_up_sync(0xffffffffu, v, offset, COUNT);
    if (lane >= offset) v += other;
  }
  return v;
}

// Turns the pieces of a tile into running sums of their own, with what comes before each within the tile; returns the tile's sum. `parts`
// is of one tile, so one barrier is enough.
__device__ __forceinline__ Acc scan_tile(Acc (&v)[VECTORS][kVector], Acc (&before)[VECTORS], Acc (&parts)[kParts]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
#pragma unroll
    for (int j = 1; j < kVector; j++) v[i][j] += v[i][j - 1];
    const Acc sum = running_sum<32>(v[i][kVector - 1]);
    if (lane == 31) parts[i * kWarps + warp] = sum;
    before[i] = __shfl_up_sync(0xffffffffu, sum, 1);
    if (lane == 0) before[i] = 0;
  }
  __syncthreads();
  // Every warp adds up the warps' sums for itself, which needs no second barrier.
  const Acc sums = running_sum<32>(lane < kParts ? parts[lane] : 0);
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const int part = i * kWarps + warp;
    const Acc earlier = __shfl_sync(0xffffffffu, sums, max(part - 1, 0));
    if (part > 0) before[i] += earlier;
  }
  return __shfl_sync(0xffffffffu, sums, kParts - 1);
}

// Over the 1, 2, 4, ... or 32 neighbouring lanes a lane belongs to; all of them get the result.
template <int LANES>
__device__ __forceinline__ Acc sum_of(Acc v) {
#pragma unroll
  for (int offset = LANES / 2; offset > 0; offset /= 2) v = v + __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

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
