// Merges the rows of the block: those of a warp by shuffles, those of the warps in shared memory. Thread i gets columns i, i + TX * TY, ...
__device__ __forceinline__ void merge_rows(Part (&part)[WIDTH], Part (&parts)[kWarps][kColumns], bool aligned) {
  const int thread = threadIdx.y * TX + threadIdx.x;
#pragma unroll
  for (int j = 0; j < WIDTH; j++) {
#pragma unroll
    for (int offset = 16; offset >= TX; offset /= 2) part[j] = merge(part[j], from_lane(part[j], offset));
    if (thread % 32 < TX) parts[thread / 32][column_of(j, aligned)] = part[j];
  }
  __syncthreads();
}
