// A thread's part of a tile that begins `first` elements into the row: VECTORS pieces of kVector elements side by side, 0 outside the row.
// `first` is negative in the first tile of a row that begins between two multiples of 16 bytes; only pieces over the row's ends go by
// single elements.
__device__ __forceinline__ void load_tile(Acc (&v)[VECTORS][kVector], const Element* row, int first, int end, int thread) {
  Access bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const int at = first + (i * BLOCK + thread) * kVector;
    if (at >= 0 && at + kVector <= end) bits[i] = *reinterpret_cast<const Access*>(row + at);
  }
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const int at = first + (i * BLOCK + thread) * kVector;
    if (at >= 0 && at + kVector <= end) {
      Element element[kVector];
      memcpy(element, &bits[i], sizeof element);
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] = static_cast<Acc>(element[j]);
    } else {
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] = at + j >= 0 && at + j < end ? static_cast<Acc>(row[at + j]) : 0;
    }
  }
}
