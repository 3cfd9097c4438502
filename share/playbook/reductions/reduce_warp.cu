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

{{include parts/value_part.cu}}

{{include parts/merge_lanes.cu}}

__device__ __forceinline__ Out result(Part a, int R) { return static_cast<Out>({{result}}); }

{{include parts/share_of_lanes.cu}}

{{include parts/lanes_kernel.cu}}
