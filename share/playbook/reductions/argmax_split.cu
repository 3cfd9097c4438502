// Up to SPLIT blocks an element of y, for few long axes: one launch reduces the parts, the next merges them, one warp an element.
// @tune SPLIT 64 8 16 32 128 256
// @tune BLOCK 256 128 512
{{if int8}}
// @tune VECTORS 1 2 4
{{else}}
// @tune VECTORS 2 1 4
{{end}}
// @scratch values {{scratch}} [OUTER * INNER * SPLIT]
// @scratch indices int32 [OUTER * INNER * SPLIT]
// @launch {{name}}<<<OUTER * INNER * min(SPLIT, ceil_div(R, 256)), BLOCK>>>(x, values, indices, R, INNER, min(SPLIT, ceil_div(R, 256)))
// @launch {{name}}_finish<<<ceil_div(OUTER * INNER, 4), 128>>>(values, indices, y, OUTER * INNER, R, min(SPLIT, ceil_div(R, 256)))
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;

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
    for (int first = begin + thread * kVector; first < end; first += BLOCK * VECTORS * kVector) {
      uint4 bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
      for (int i = 0; i < VECTORS; i++) {
        const int at = first + i * BLOCK * kVector;
        if (at < end) bits[i] = *reinterpret_cast<const uint4*>(line + at);
      }
#pragma unroll
      for (int i = 0; i < VECTORS; i++) {
        const int at = first + i * BLOCK * kVector;
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
    for (int r = begin + thread; r < end; r += BLOCK)
      take(part, static_cast<Acc>(line[static_cast<size_t>(r) * stride]), r);
  }
  return part;
}

// Over the block; the first warp gets the result.
__device__ __forceinline__ Part merge_block(Part part) {
  __shared__ Part parts[kWarps];
  part = merge_lanes<32>(part);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;
  __syncthreads();
  return merge_lanes<kWarps>(parts[threadIdx.x % kWarps]);
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ x, Acc* __restrict__ values, int* __restrict__ indices, int R, int INNER, int splits) {
  const int at = blockIdx.x / splits;
  const Element* line = x + static_cast<size_t>(at / INNER) * R * INNER + at % INNER;
  const bool aligned = INNER == 1 && R % kVector == 0;
  // Parts of whole vectors begin aligned if the axis does.
  const int length = (R + splits * kVector - 1) / (splits * kVector) * kVector;
  const int begin = blockIdx.x % splits * length;
  const Part part = merge_block(share_of(line, begin, min(R, begin + length), INNER, aligned, threadIdx.x));
  if (threadIdx.x == 0) {
    values[blockIdx.x] = part.value;
    indices[blockIdx.x] = part.index;
  }
}

extern "C" __global__ void {{name}}_finish(
    const Acc* __restrict__ values, const int* __restrict__ indices, int* __restrict__ y, int count, int R, int splits) {
  const int at = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (at >= count) return;
  Part part = nothing();
  for (int i = lane; i < splits; i += 32) part = merge(part, {values[at * splits + i], indices[at * splits + i]});
  part = merge_lanes<32>(part);
  if (lane == 0) y[at] = result(part, R);
}
