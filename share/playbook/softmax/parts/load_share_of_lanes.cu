// A thread's share of a row of `length` elements: VECTORS accesses of 16 bytes where rows begin at multiples of 16 bytes, single elements
// otherwise; neighbouring threads touch neighbouring addresses either way. Beyond the row's end it is `filler`.
__device__ __forceinline__ void load_share(Acc (&v)[VECTORS][kVector], const Element* row, int length, bool aligned, int thread,
                                           Acc filler) {
  if (aligned) {
    uint4 bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const int at = (i * LANES + thread) * kVector;
      bits[i] = at < length ? *reinterpret_cast<const uint4*>(row + at) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      Element element[kVector];
      memcpy(element, &bits[i], sizeof element);
      const bool inside = (i * LANES + thread) * kVector < length;
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] = inside ? static_cast<Acc>(element[j]) : filler;
    }
  } else {
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) {
        const int at = (i * kVector + j) * LANES + thread;
        v[i][j] = at < length ? static_cast<Acc>(row[at]) : filler;
      }
  }
}
