// Threads go along the columns that stay (INNER), WIDTH of them a thread in one access, and TY rows of threads go down the axis;
// their results are merged by shuffles and in shared memory.
// @tune TX 8 16 32 4
// @tune TY 32 16 8 64
{{if float64}}
// @tune WIDTH 1 2
{{end}}
{{if float32}}
// @tune WIDTH 1 2 4
{{end}}
{{if half}}
// @tune WIDTH 2 4 1 8
{{end}}
{{if int32}}
// @tune WIDTH 1 2 4
{{end}}
{{if int8}}
// @tune WIDTH 4 8 1 16
{{end}}
// @tune UNROLL 4 2 8
// @where TX * TY >= 64 && TX * TY <= 1024 && TX * TX * TY * WIDTH <= 65536
// @launch {{name}}<<<OUTER * ceil_div(INNER, TX * WIDTH), dim3(TX, TY)>>>({{arguments}})
{{types}}
constexpr int kColumns = TX * WIDTH; // of a block
constexpr int kWarps = TX * TY / 32;

{{include parts/bits.cu}}

{{include parts/part.cu}}

{{include parts/nothing.cu}}

// Where nothing is larger than the smallest value there is, all are equal and the first counts.
__device__ __forceinline__ int result(Part part, int) { return part.index == kNowhere ? 0 : part.index; }

{{include parts/column_of.cu}}

{{include parts/take_rows.cu}}

{{include parts/merge_rows.cu}}

{{include parts/columns_kernel.cu}}
