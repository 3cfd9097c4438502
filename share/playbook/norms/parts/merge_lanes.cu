template <int LANES>
__device__ __forceinline__ Moments merge_lanes(Moments a) {
#pragma unroll
  for (int offset = LANES / 2; offset > 0; offset /= 2)
    a = merge(a, {__shfl_xor_sync(0xffffffffu, a.count, offset), __shfl_xor_sync(0xffffffffu, a.mean, offset),
                  __shfl_xor_sync(0xffffffffu, a.squares, offset)});
  return a;
}
