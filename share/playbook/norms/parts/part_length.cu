// Elements a block takes: whole vectors, so that all parts begin aligned if the row does.
__device__ __forceinline__ int part_length(int length, int splits) {
  return (length + splits * kVector - 1) / (splits * kVector) * kVector;
}
