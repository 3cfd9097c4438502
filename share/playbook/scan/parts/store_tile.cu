__device__ __forceinline__ void store_tile(Out* row, const Acc (&v)[VECTORS][kVector], const Acc (&before)[VECTORS], int first, int end,
                                           int thread) {
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const int at = first + (i * BLOCK + thread) * kVector;
    Out element[kVector];
#pragma unroll
    for (int j = 0; j < kVector; j++) element[j] = static_cast<Out>(before[i] + v[i][j]);
    if (at >= 0 && at + kVector <= end) {
      uint4 bits;
      memcpy(&bits, element, sizeof bits);
      *reinterpret_cast<uint4*>(row + at) = bits;
    } else {
#pragma unroll
      for (int j = 0; j < kVector; j++)
        if (at + j >= 0 && at + j < end) row[at + j] = element[j];
    }
  }
}
