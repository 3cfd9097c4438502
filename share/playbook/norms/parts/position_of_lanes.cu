// Where element j of access i lies in a row: whole vectors where rows begin at multiples of 16 bytes, single elements otherwise.
// Neighbouring threads touch neighbouring addresses either way.
__device__ __forceinline__ int position(int i, int j, bool aligned, int thread) {
  return aligned ? (i * LANES + thread) * kVector + j : (i * kVector + j) * LANES + thread;
}
