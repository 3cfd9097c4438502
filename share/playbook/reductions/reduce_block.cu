// One block an element of y. The axis is read once, in accesses of 16 bytes where its elements lie side by side and begin
// at multiples of 16.
// @tune BLOCK 128 64 256 512 1024
{{if int8}}
// @tune VECTORS 1 2 4
{{else}}
// @tune VECTORS 2 1 4
{{end}}
// @launch {{name}}<<<OUTER * INNER, BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;

using Part = Acc; // what is known of the elements seen so far

__device__ __forceinline__ Part nothing() { return {{identity}}; }
__device__ __forceinline__ Part merge(Part a, Part b) { return {{expression}}; }
__device__ __forceinline__ void take(Part& part, Acc value, int) { part = merge(part, value); }
__device__ __forceinline__ Part from_lane(Part part, int offset) { return __shfl_xor_sync(0xffffffffu, part, offset); }

{{include parts/merge_lanes.cu}}

__device__ __forceinline__ Out result(Part a, int R) { return static_cast<Out>({{result}}); }

{{include parts/share_of.cu}}

{{include parts/merge_block.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const Element* line = x + static_cast<size_t>(blockIdx.x / INNER) * R * INNER + blockIdx.x % INNER;
  const bool aligned = INNER == 1 && R % kVector == 0;
  const Part part = merge_block(share_of(line, 0, R, INNER, aligned, threadIdx.x));
  if (threadIdx.x == 0) y[blockIdx.x] = result(part, R);
}
