// One block a tile of a row, for few long rows; x is read once. A block publishes the sum of its tile, then looks back over the tiles
// before it until it meets one that knows its whole running sum. Blocks draw their tile from a counter, so that whatever a block waits
// for has been begun, in whatever order blocks start.
{{if half}}
// @tune BLOCK 128 256 512 64
// @tune VECTORS 4 1 2 8
{{else}}
// @tune BLOCK 256 128 512 1024
// @tune VECTORS 4 1 2 8
{{end}}
// @where BLOCK * VECTORS <= 1024
{{if int8}}
// @scratch states int32 [M * ceil_div(N + 4 - 1, BLOCK * VECTORS * 4) + 1]
// @scratch sums {{scratch}} [M * ceil_div(N + 4 - 1, BLOCK * VECTORS * 4) * 2]
// @launch {{name}}_clear<<<ceil_div(M * ceil_div(N + 4 - 1, BLOCK * VECTORS * 4) + 1, 256), 256>>>(
//     states, M * ceil_div(N + 4 - 1, BLOCK * VECTORS * 4) + 1)
// @launch {{name}}<<<M * ceil_div(N % 4 == 0 ? N : N + 4 - 1, BLOCK * VECTORS * 4), BLOCK>>>(
//     x, y, states, sums, M, N)
{{else}}
// @scratch states int32 [M * ceil_div(N + {{vector}} - 1, BLOCK * VECTORS * {{vector}}) + 1]
// @scratch sums {{scratch}} [M * ceil_div(N + {{vector}} - 1, BLOCK * VECTORS * {{vector}}) * 2]
// @launch {{name}}_clear<<<ceil_div(M * ceil_div(N + {{vector}} - 1, BLOCK * VECTORS * {{vector}}) + 1, 256), 256>>>(
//     states, M * ceil_div(N + {{vector}} - 1, BLOCK * VECTORS * {{vector}}) + 1)
// @launch {{name}}<<<M * ceil_div(N % {{vector}} == 0 ? N : N + {{vector}} - 1, BLOCK * VECTORS * {{vector}}), BLOCK>>>(
//     x, y, states, sums, M, N)
{{end}}
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

enum State { kUnknown, kTileSum, kRunningSum };

extern "C" __global__ void {{name}}_clear(int* __restrict__ states, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) states[at] = kUnknown;
}

// For other blocks to see: first the value, then that it is there.
__device__ __forceinline__ void publish(volatile Acc* value, Acc sum, volatile int* state, State now) {
  *value = sum;
  __threadfence();
  *state = now;
}

// The sum of the tiles [first, tile), 32 of them at a time, by one warp. Volatile because other blocks are writing them.
__device__ __forceinline__ Acc look_back(const volatile int* states, const volatile Acc* sums, int tiles, int first, int tile) {
  const int lane = threadIdx.x % 32;
  Acc before = 0;
  for (int last = tile - 1; last >= first; last -= 32) {
    const int at = last - lane;
    int state = kRunningSum; // before the row there is nothing left to add
    Acc sum = 0;
    if (at >= first) {
      do state = states[at];
      while (state == kUnknown);
      __threadfence();
      sum = sums[state == kRunningSum ? tiles + at : at];
    }
    const unsigned complete = __ballot_sync(0xffffffffu, state == kRunningSum);
    const int nearest = complete != 0 ? __ffs(complete) - 1 : 31;
    before += sum_of<32>(lane <= nearest ? sum : 0);
    if (complete != 0) break;
  }
  return before;
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ x, Out* __restrict__ y, int* states, Acc* sums, int M, int N) {
  __shared__ Acc parts[kParts], shared_carry;
  __shared__ int shared_tile;
  const int tiles = gridDim.x; // sums[tile] is of the tile alone, sums[tiles + tile] of its row up to its end
  const int tiles_of_row = tiles / M;
  if (threadIdx.x == 0) shared_tile = atomicAdd(&states[tiles], 1);
  __syncthreads();
  const int tile = shared_tile, row_tile = tile - tile % tiles_of_row;
  const size_t start = static_cast<size_t>(tile / tiles_of_row) * N;
  const int skew = static_cast<int>(start % kVector); // tiles begin at multiples of 16 bytes
  const int first = tile % tiles_of_row * kTile - skew;
  Acc v[VECTORS][kVector], before[VECTORS];
  load_tile(v, x + start, first, N, threadIdx.x);
  const Acc sum = scan_tile(v, before, parts);
  if (threadIdx.x < 32) {
    const bool leads = tile == row_tile; // the first tile of a row knows its running sum at once
    if (threadIdx.x == 0) publish(&sums[leads ? tiles + tile : tile], sum, &states[tile], leads ? kRunningSum : kTileSum);
    __syncwarp();
    const Acc carry = look_back(states, sums, tiles, row_tile, tile);
    if (threadIdx.x == 0) {
      if (!leads) publish(&sums[tiles + tile], carry + sum, &states[tile], kRunningSum);
      shared_carry = carry;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < VECTORS; i++) before[i] += shared_carry;
  store_tile(y + start, v, before, first, N, threadIdx.x);
}
