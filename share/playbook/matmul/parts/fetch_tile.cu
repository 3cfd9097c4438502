// Begins to copy EXTENT rows (or columns) by BK of the inner dimension to a stage. What lies outside the matrix becomes zero.
template <int EXTENT, bool ALONG_K>
__device__ __forceinline__ void fetch_tile(Unit* tile, const Element* source, int first, int extent, int k0, int K) {
  constexpr int kVectors = EXTENT * BK / kVector;
  constexpr int kUnits = (ALONG_K ? BK : EXTENT) / kVector; // of a line
  const int length = ALONG_K ? K : extent, lines = ALONG_K ? extent : K;
  const int first_line = ALONG_K ? first : k0, first_column = ALONG_K ? k0 : first;
  if (length % kVector == 0) {
#pragma unroll
    for (int done = 0; done < kVectors; done += kThreads) {
      const int i = done + threadIdx.x, line = i / kUnits, unit = i % kUnits;
      if (kVectors % kThreads != 0 && i >= kVectors)
        break;
      const int y = first_line + line, x = first_column + unit * kVector;
      const bool inside = y < lines && x < length;
      const Element* from = inside ? source + static_cast<long long>(y) * length + x : source;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(
                       static_cast<Bits>(__cvta_generic_to_shared(tile + place<kUnits>(line, unit)))),
                   "l"(from), "r"(inside ? 16 : 0)
                   : "memory");
    }
  } else { // lines begin anywhere, so nothing wider than an element can be read
    for (int i = threadIdx.x; i < kVectors; i += kThreads) {
      const int line = i / kUnits, unit = i % kUnits;
      const int y = first_line + line, x = first_column + unit * kVector;
      Unit v = {};
#pragma unroll
      for (int e = 0; e < kVector; e++)
        if (y < lines && x + e < length)
          v.at[e] = source[static_cast<long long>(y) * length + x + e];
      tile[place<kUnits>(line, unit)] = v;
    }
  }
}
