// LANES lanes of a warp a row, several rows a block: no barrier, no shared memory.
// @tune LANES 32 16 8
// @tune BLOCK 128 64 256
// @tune VECTORS 4 1 2 8
// @launch {{name}}<<<ceil_div(M, BLOCK / LANES), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = 16 / sizeof(Out); // elements in an access of 16 bytes to y
{{if int8}}
using Access = unsigned; // as many of x
{{else}}
using Access = uint4; // as many of x
{{end}}
constexpr int kTile = LANES * VECTORS * kVector;

// A thread's part of a tile that begins `first` elements into the row: VECTORS pieces of kVector elements side by side, 0 outside the row.
// `first` is negative in the first tile of a row that begins between two multiples of 16 bytes; only pieces over the row's ends go by
// single elements.
__device__ __forceinline__ void load_tile(Acc (&v)[VECTORS][kVector], const Element* row, int first, int end, int thread) {
  Access bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const int at = first + (i * LANES + thread) * kVector;
    if (at >= 0 && at + kVector <= end) bits[i] = *reinterpret_cast<const Access*>(row + at);
  }
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const int at = first + (i * LANES + thread) * kVector;
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
    const int at = first + (i * LANES + thread) * kVector;
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

{{include parts/running_sum.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int lane = threadIdx.x % LANES;
  const int row = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
  const int end = row < M ? N : 0; // behind the last row lanes only keep their neighbours company in the shuffles
  const size_t start = static_cast<size_t>(row) * N;
  const int skew = static_cast<int>(start % kVector); // tiles begin at multiples of 16 bytes
  Acc carry = 0;
  // All rows of a block take equally many tiles, whatever their skew.
  for (int first = -skew; first + skew < N + kVector - 1; first += kTile) {
    Acc v[VECTORS][kVector], before[VECTORS];
    load_tile(v, x + start, first, end, lane);
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
#pragma unroll
      for (int j = 1; j < kVector; j++) v[i][j] += v[i][j - 1];
      const Acc sum = running_sum<LANES>(v[i][kVector - 1]);
      const Acc earlier = __shfl_up_sync(0xffffffffu, sum, 1, LANES);
      before[i] = lane > 0 ? carry + earlier : carry;
      carry += __shfl_sync(0xffffffffu, sum, LANES - 1, LANES);
    }
    store_tile(y + start, v, before, first, end, lane);
  }
}
