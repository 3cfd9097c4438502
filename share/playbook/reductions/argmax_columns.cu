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

// Column j of a thread among those of its block.
__device__ __forceinline__ int column_of(int j, bool aligned) {
  return aligned ? threadIdx.x * WIDTH + j : j * TX + threadIdx.x;
}

{{include parts/take_rows.cu}}

{{include parts/merge_rows.cu}}

extern "C" __global__ void __launch_bounds__(TX * TY) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Part parts[kWarps][kColumns];
  const int tiles = (INNER + kColumns - 1) / kColumns;
  const int outer = blockIdx.x / tiles, first = blockIdx.x % tiles * kColumns;
  const int columns = min(kColumns, INNER - first);
  const bool aligned = INNER % WIDTH == 0;
  Part part[WIDTH];
  take_rows(part, x + static_cast<size_t>(outer) * R * INNER + first, 0, R, columns, INNER, aligned);
  merge_rows(part, parts, aligned);
  for (int c = threadIdx.y * TX + threadIdx.x; c < columns; c += TX * TY) {
    Part all = parts[0][c];
#pragma unroll 4
    for (int w = 1; w < kWarps; w++) all = merge(all, parts[w][c]);
    y[static_cast<size_t>(outer) * INNER + first + c] = result(all, R);
  }
}
