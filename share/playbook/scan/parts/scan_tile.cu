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
