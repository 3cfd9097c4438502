// One block a row, in tiles of VECTORS accesses of 16 bytes a thread: running sums within a thread, across the lanes of a warp by shuffles,
// across the warps in shared memory, with one barrier a tile.
{{if half}}
// @tune BLOCK 128 256 512 64
// @tune VECTORS 4 1 2 8
{{else}}
// @tune BLOCK 256 128 512 1024
// @tune VECTORS 4 1 2 8
{{end}}
// @where BLOCK * VECTORS <= 1024
// @launch {{name}}<<<M, BLOCK>>>({{arguments}})
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

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Acc parts[2][kParts]; // in turn, so that the next tile need not wait until all have read this one's
  const size_t start = static_cast<size_t>(blockIdx.x) * N;
  const int skew = static_cast<int>(start % kVector); // tiles begin at multiples of 16 bytes
  Acc carry = 0;
  int turn = 0;
  for (int first = -skew; first < N; first += kTile) {
    Acc v[VECTORS][kVector], before[VECTORS];
    load_tile(v, x + start, first, N, threadIdx.x);
    const Acc sum = scan_tile(v, before, parts[turn]);
#pragma unroll
    for (int i = 0; i < VECTORS; i++) before[i] += carry;
    store_tile(y + start, v, before, first, N, threadIdx.x);
    carry += sum;
    turn = 1 - turn;
  }
}
