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

using Part = Acc; // what is known of the elements seen so far

__device__ __forceinline__ Part nothing() { return {{identity}}; }
__device__ __forceinline__ Part merge(Part a, Part b) { return {{expression}}; }
__device__ __forceinline__ void take(Part& part, Acc value, int) { part = merge(part, value); }
__device__ __forceinline__ Part from_lane(Part part, int offset) { return __shfl_xor_sync(0xffffffffu, part, offset); }

{{include parts/merge_lanes.cu}}

__device__ __forceinline__ Out result(Part a, int R) { return static_cast<Out>({{result}}); }

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
