__device__ __forceinline__ Part nothing() {
{{if floating}}
  return {-static_cast<Acc>(INFINITY), kNowhere};
{{else}}
  return {-2147483647 - 1, kNowhere};
{{end}}
}
__device__ __forceinline__ Part merge(Part a, Part b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}
// A thread's indices only grow, so of equal values it keeps the first.
__device__ __forceinline__ void take(Part& part, Acc value, int index) {
  if (value > part.value) part = {value, index};
}
__device__ __forceinline__ Part from_lane(Part part, int offset) {
  return {__shfl_xor_sync(0xffffffffu, part.value, offset), __shfl_xor_sync(0xffffffffu, part.index, offset)};
}
