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

{{include parts/lanes_kernel.cu}}
