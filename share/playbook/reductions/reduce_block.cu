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

{{include parts/value_part.cu}}

{{include parts/merge_lanes.cu}}

__device__ __forceinline__ Out result(Part a, int R) { return static_cast<Out>({{result}}); }

{{include parts/share_of.cu}}

{{include parts/merge_block.cu}}

{{include parts/block_kernel.cu}}
