// Tiles with rows of 128 bytes, read and written by 16 bytes. Narrow elements are transposed in registers up to words of 4 bytes,
// words in shared memory, whose 16-byte groups are permuted by row instead of padded: vectors stay aligned and banks do not
// collide.
// @tune DEPTH 2 1 4
// @where DEPTH * {{vector}} * 1024 <= 49152
{{if float64}}
// @launch {{name}}<<<ceil_div(N, 8 * {{vector}}) * ceil_div(M, 8 * {{vector}} * DEPTH), 128>>>({{arguments}})
{{else}}
// @launch {{name}}<<<ceil_div(N, 8 * {{vector}}) * ceil_div(M, 8 * {{vector}} * DEPTH), 256>>>({{arguments}})
{{end}}
{{types}}
constexpr int kVector = {{vector}};  // elements in 16 bytes
constexpr int kTile = 8 * kVector;   // elements in a row of 128 bytes
constexpr int kWord = sizeof(Element) < 4 ? 4 / sizeof(Element) : 1; // elements a thread packs together
constexpr int kWords = kVector / kWord;
constexpr int kThreads = kTile / kWord * 8;

struct alignas(16) Vector {
  Element element[kVector];
};

struct alignas(sizeof(Element) * kWord) Word {
  Element element[kWord];
};

// Where a tile keeps x(row, col): by column, the 16-byte groups of a column permuted by where the column lies in the tile.
__device__ __forceinline__ int place(int row, int col) {
  return col * kTile + ((row / kVector) ^ (col / kVector)) * kVector + row % kVector;
}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
  __shared__ alignas(16) Element tile[DEPTH][kTile * kTile];
  const int tiles = (N + kTile - 1) / kTile;
  const int first_row = blockIdx.x / tiles * (kTile * DEPTH);
  const int first_col = blockIdx.x % tiles * kTile;
  const bool whole = first_row + kTile * DEPTH <= M && first_col + kTile <= N;
  if (whole && M % kVector == 0 && N % kVector == 0) {
    const int row = threadIdx.x / 8 * kWord; // of the tile
    const int col = threadIdx.x % 8 * kVector;
    Vector part[DEPTH][kWord];
#pragma unroll
    for (int d = 0; d < DEPTH; d++)
#pragma unroll
      for (int r = 0; r < kWord; r++)
        part[d][r] = *reinterpret_cast<const Vector*>(x + static_cast<size_t>(first_row + d * kTile + row + r) * N + first_col + col);
#pragma unroll
    for (int d = 0; d < DEPTH; d++)
#pragma unroll
      for (int c = 0; c < kVector; c++) {
        Word word;
#pragma unroll
        for (int r = 0; r < kWord; r++) word.element[r] = part[d][r].element[c];
        *reinterpret_cast<Word*>(&tile[d][place(row, col + c)]) = word;
      }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < DEPTH; d++)
#pragma unroll
      for (int r = 0; r < kWord; r++) {
        const int out = threadIdx.x / 8 + r * (kThreads / 8); // a column of x
        const int at = threadIdx.x % 8 * kVector;
        *reinterpret_cast<Vector*>(y + static_cast<size_t>(first_col + out) * M + first_row + d * kTile + at) =
            *reinterpret_cast<const Vector*>(&tile[d][place(at, out)]);
      }
  } else {
    // Tiles at the edge, and rows that are no whole vectors: element by element, still row by row.
    for (int i = threadIdx.x; i < DEPTH * kTile * kTile; i += kThreads) {
      const int row = i / kTile, col = i % kTile;
      if (first_row + row < M && first_col + col < N)
        tile[row / kTile][place(row % kTile, col)] = x[static_cast<size_t>(first_row + row) * N + first_col + col];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < DEPTH * kTile * kTile; i += kThreads) {
      const int col = i / (kTile * DEPTH), row = i % (kTile * DEPTH);
      if (first_row + row < M && first_col + col < N)
        y[static_cast<size_t>(first_col + col) * M + first_row + row] = tile[row / kTile][place(row % kTile, col)];
    }
  }
}
