// Over the 1, 2, 4, ... or 32 neighbouring lanes a lane belongs to; all of them get the result.
template <int COUNT>
__device__ __forceinline__ Part merge_lanes(Part part) {
#pragma unroll
  for (int offset = COUNT / 2; offset > 0; offset /= 2) part = merge(part, from_lane(part, offset));
  return part;
}
