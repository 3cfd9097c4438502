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
