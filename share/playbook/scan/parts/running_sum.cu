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
