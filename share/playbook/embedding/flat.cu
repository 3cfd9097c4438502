// The result as one long row of 16-byte vectors, several in flight per thread: short rows of the table fill warps as well as long
// ones. A vector lies in one row where rows are whole vectors; elements are taken one by one otherwise.
// @tune BLOCK 256 128 512
// @tune VECTORS 4 2 1 8
// @launch {{name}}<<<ceil_div(T * D, BLOCK * VECTORS * {{vector}}), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in 16 bytes
constexpr int kTile = BLOCK * VECTORS * kVector;

struct alignas(16) Vector {
  Element element[kVector];
};

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  // One long division a block; places further on in the tile need a short one.
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * kTile;
  const size_t first_row = first / D;
  const unsigned first_column = first % D;
  if (D % kVector == 0) {
    Vector part[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const unsigned offset = first_column + (i * BLOCK + threadIdx.x) * kVector;
      const size_t row = first_row + offset / D;
      if (row < T) part[i] = *reinterpret_cast<const Vector*>(table + static_cast<size_t>(indices[row]) * D + offset % D);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const unsigned offset = (i * BLOCK + threadIdx.x) * kVector;
      if (first + offset < static_cast<unsigned long long>(T) * D) *reinterpret_cast<Vector*>(y + first + offset) = part[i];
    }
  } else {
    for (unsigned i = threadIdx.x; i < kTile; i += BLOCK) {
      const unsigned offset = first_column + i;
      const size_t row = first_row + offset / D;
      if (row < T) y[first + i] = table[static_cast<size_t>(indices[row]) * D + offset % D];
    }
  }
}
