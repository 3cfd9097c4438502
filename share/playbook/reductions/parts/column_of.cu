// Column j of a thread among those of its block.
__device__ __forceinline__ int column_of(int j, bool aligned) {
  return aligned ? threadIdx.x * WIDTH + j : j * TX + threadIdx.x;
}
