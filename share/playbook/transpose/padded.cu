// A square tile goes through shared memory, so that rows are read and rows are written. Each row of it is padded by a bank's
// width, so that a column lies in as many banks as it has elements.
{{if int8}}
// @tune TILE 128 64
{{else}}
{{if half}}
// @tune TILE 64 32 128
{{else}}
// @tune TILE 32 64
{{end}}
{{end}}
// @tune ROWS 8 4 16
// @where TILE * ROWS <= 1024
// @launch {{name}}<<<ceil_div(N, TILE) * ceil_div(M, TILE), dim3(TILE, ROWS)>>>({{arguments}})
{{types}}
constexpr int kPad = sizeof(Element) < 4 ? 4 / sizeof(Element) : 1;

extern "C" __global__ void __launch_bounds__(TILE * ROWS) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Element tile[TILE][TILE + kPad];
  const int tiles = (N + TILE - 1) / TILE;
  const int first_row = blockIdx.x / tiles * TILE;
  const int first_col = blockIdx.x % tiles * TILE;
  const int col = first_col + threadIdx.x;
  // Values wait in registers, so that all loads of a thread are in flight together.
  Element value[TILE / ROWS];
#pragma unroll
  for (int i = 0; i < TILE / ROWS; i++) {
    const int row = first_row + i * ROWS + threadIdx.y;
    if (row < M && col < N) value[i] = x[static_cast<size_t>(row) * N + col];
  }
#pragma unroll
  for (int i = 0; i < TILE / ROWS; i++)
    if (first_row + i * ROWS + threadIdx.y < M && col < N) tile[i * ROWS + threadIdx.y][threadIdx.x] = value[i];
  __syncthreads();
  const int row = first_row + threadIdx.x;
#pragma unroll
  for (int i = 0; i < TILE / ROWS; i++) {
    const int out = first_col + i * ROWS + threadIdx.y;
    if (row < M && out < N) y[static_cast<size_t>(out) * M + row] = tile[threadIdx.x][i * ROWS + threadIdx.y];
  }
}
