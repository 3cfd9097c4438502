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

{{include parts/part.cu}}

{{include parts/nothing.cu}}

{{include parts/merge_lanes.cu}}

// Where nothing is larger than the smallest value there is, all are equal and the first counts.
__device__ __forceinline__ int result(Part part, int) { return part.index == kNowhere ? 0 : part.index; }

{{include parts/share_of_lanes.cu}}

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
