// Threads go along the columns that stay (INNER), and the axis is cut into up to SPLIT parts of different blocks, for few columns of a long
// axis. A second launch merges the parts.
// @tune SPLIT 16 4 8 32 64
// @tune TX 32 16 8
// @tune TY 8 16 4
{{if float64}}
// @tune WIDTH 2 1
{{end}}
{{if float32}}
// @tune WIDTH 4 2 1
{{end}}
{{if half}}
// @tune WIDTH 4 8 2
{{end}}
{{if int32}}
// @tune WIDTH 4 2 1
{{end}}
{{if int8}}
// @tune WIDTH 4 8 16
{{end}}
// @tune UNROLL 4 2 8
// @where TX * TY >= 64 && TX * TY <= 1024 && TX * TX * TY * WIDTH <= 65536
// @scratch parts {{scratch}} [SPLIT * OUTER * INNER]
// @launch {{name}}<<<min(SPLIT, ceil_div(R, 32)) * OUTER * ceil_div(INNER, TX * WIDTH), dim3(TX, TY)>>>(
//     x, parts, OUTER, R, INNER, min(SPLIT, ceil_div(R, 32)))
// @launch {{name}}_finish<<<ceil_div(OUTER * INNER, 64), 64>>>(
//     parts, y, OUTER * INNER, R, min(SPLIT, ceil_div(R, 32)))
{{types}}
constexpr int kColumns = TX * WIDTH; // of a block
constexpr int kWarps = TX * TY / 32;

{{include parts/bits.cu}}

{{include parts/value_part.cu}}

__device__ __forceinline__ Out result(Part a, int R) { return static_cast<Out>({{result}}); }

{{include parts/column_of.cu}}

{{include parts/take_rows.cu}}

{{include parts/merge_rows.cu}}

extern "C" __global__ void __launch_bounds__(TX * TY) {{name}}(
    const Element* __restrict__ x, Acc* __restrict__ parts, int OUTER, int R, int INNER, int splits) {
  __shared__ Part rows[kWarps][kColumns];
  const int tiles = (INNER + kColumns - 1) / kColumns;
  const int outer = blockIdx.x / tiles % OUTER, split = blockIdx.x / tiles / OUTER, first = blockIdx.x % tiles * kColumns;
  const int columns = min(kColumns, INNER - first);
  const int length = (R + splits - 1) / splits, begin = split * length;
  const bool aligned = INNER % WIDTH == 0;
  Part part[WIDTH];
  take_rows(part, x + static_cast<size_t>(outer) * R * INNER + first, begin, min(R, begin + length), columns, INNER, aligned);
  merge_rows(part, rows, aligned);
  for (int c = threadIdx.y * TX + threadIdx.x; c < columns; c += TX * TY) {
    Part all = rows[0][c];
#pragma unroll 4
    for (int w = 1; w < kWarps; w++) all = merge(all, rows[w][c]);
    const size_t at = (static_cast<size_t>(split) * OUTER + outer) * INNER + first + c;
    parts[at] = all;
  }
}

extern "C" __global__ void {{name}}_finish(
    const Acc* __restrict__ parts, Out* __restrict__ y, int count, int R, int splits) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;
  Part part = nothing();
#pragma unroll 8
  for (int split = 0; split < splits; split++) part = merge(part, parts[static_cast<size_t>(split) * count + at]);
  y[at] = result(part, R);
}
