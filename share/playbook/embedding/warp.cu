// A warp copies a row of the table at a time: the index is read once, lanes take consecutive vectors of 16 bytes (elements, where
// rows are no whole vectors), and several of them are in flight.
// @tune WARPS 8 4 16
// @tune VECTORS 4 2 1 8
// @tune ROWS 1 2 4
// @launch {{name}}<<<ceil_div(T, WARPS * ROWS), 32 * WARPS>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in 16 bytes

struct alignas(16) Vector {
  Element element[kVector];
};

// All loads of a stretch are issued before its first store.
template <class Part> __device__ __forceinline__ void copy_row(const Part* __restrict__ from, Part* __restrict__ to, int parts, int lane) {
  for (int first = lane; first < parts; first += 32 * VECTORS) {
    Part part[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
      if (first + i * 32 < parts) part[i] = from[first + i * 32];
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
      if (first + i * 32 < parts) to[first + i * 32] = part[i];
  }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) {{name}}(
    {{restrict_parameters}}) {
  const int lane = threadIdx.x % 32;
  const int first = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    const int row = first + i;
    if (row >= T) return;
    const Element* from = table + static_cast<size_t>(indices[row]) * D;
    Out* to = y + static_cast<size_t>(row) * D;
    if (D % kVector == 0)
      copy_row(reinterpret_cast<const Vector*>(from), reinterpret_cast<Vector*>(to), D / kVector, lane);
    else
      copy_row(from, to, D, lane);
  }
}
