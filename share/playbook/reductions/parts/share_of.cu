// What a thread finds in its share of line[begin, end), whose elements are `stride` apart. Elements side by side are taken in accesses of
// 16 bytes, VECTORS at a time; each place in a vector has a running result of its own, so that none waits for another.
__device__ __forceinline__ Part share_of(const Element* line, int begin, int end, int stride, bool aligned, int thread) {
  Part part = nothing();
  if (aligned) {
    Part parts[kVector];
#pragma unroll
    for (int j = 0; j < kVector; j++) parts[j] = nothing();
    for (int first = begin + thread * kVector; first < end; first += BLOCK * VECTORS * kVector) {
      uint4 bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
      for (int i = 0; i < VECTORS; i++) {
        const int at = first + i * BLOCK * kVector;
        if (at < end) bits[i] = *reinterpret_cast<const uint4*>(line + at);
      }
#pragma unroll
      for (int i = 0; i < VECTORS; i++) {
        const int at = first + i * BLOCK * kVector;
        if (at < end) {
          Element element[kVector];
          memcpy(element, &bits[i], sizeof element);
#pragma unroll
          for (int j = 0; j < kVector; j++) take(parts[j], static_cast<Acc>(element[j]), at + j);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kVector; j++) part = merge(part, parts[j]);
  } else {
#pragma unroll 4
    for (int r = begin + thread; r < end; r += BLOCK)
      take(part, static_cast<Acc>(line[static_cast<size_t>(r) * stride]), r);
  }
  return part;
}
