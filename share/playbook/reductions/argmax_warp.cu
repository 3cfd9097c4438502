// LANES lanes of a warp an element of y, several of them a block: no barrier, no shared memory.
// @tune LANES 32 16 8
// @tune BLOCK 128 64 256
{{if int8}}
// @tune VECTORS 1 2 4
{{else}}
// @tune VECTORS 4 1 2 8
{{end}}
// @launch {{name}}<<<ceil_div(OUTER * INNER, BLOCK / LANES), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes

// The largest of the elements seen so far and where along the axis it was.
struct Part {
  Acc value;
  int index;
};
constexpr int kNowhere = 0x7fffffff;

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

// Over the 1, 2, 4, ... or 32 neighbouring lanes a lane belongs to; all of them get the result.
template <int COUNT>
__device__ __forceinline__ Part merge_lanes(Part part) {
#pragma unroll
  for (int offset = COUNT / 2; offset > 0; offset /= 2) part = merge(part, from_lane(part, offset));
  return part;
}

// Where nothing is larger than the smallest value there is, all are equal and the first counts.
__device__ __forceinline__ int result(Part part, int) { return part.index == kNowhere ? 0 : part.index; }

// What a thread finds in its share of line[begin, end), whose elements are `stride` apart. Elements side by side are taken in accesses of
// 16 bytes, VECTORS at a time; each place in a vector has a running result of its own, so that none waits for another.
__device__ __forceinline__ Part share_of(const Element* line, int begin, int end, int stride, bool aligned, int thread) {
  Part part = nothing();
  if (aligned) {
    Part parts[kVector];
#pragma unroll
    for (int j = 0; j < kVector; j++) parts[j] = nothing();
    for (int first = begin + thread * kVector; first < end; first += LANES * VECTORS * kVector) {
      uint4 bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
      for (int i = 0; i < VECTORS; i++) {
        const int at = first + i * LANES * kVector;
        if (at < end) bits[i] = *reinterpret_cast<const uint4*>(line + at);
      }
#pragma unroll
      for (int i = 0; i < VECTORS; i++) {
        const int at = first + i * LANES * kVector;
        if (at < end) {
          Element element[kVector];
          memcpy(element, &bits[i], sizeof element);
#pragma unroll
          for (int j = 0; j < kVector; j++) take(parts[j], static_cast<Acc>(element[j]), at + j);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kVector; j++) part = merge(part, parts[j]);
  } else {
#pragma unroll 4
    for (int r = begin + thread; r < end; r += LANES)
      take(part, static_cast<Acc>(line[static_cast<size_t>(r) * stride]), r);
  }
  return part;
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int lane = threadIdx.x % LANES;
  const int at = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
  const bool inside = at < OUTER * INNER; // lanes behind the last only keep their neighbours company in the shuffles
  const Element* line = x + static_cast<size_t>(at / INNER) * R * INNER + at % INNER;
  const bool aligned = INNER == 1 && R % kVector == 0;
  const Part part = merge_lanes<LANES>(share_of(line, 0, inside ? R : 0, INNER, aligned, lane));
  if (lane == 0 && inside) y[at] = result(part, R);
}
