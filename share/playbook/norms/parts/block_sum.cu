// Over the block, known to all its threads. `parts` is used once, so that one barrier is enough.
__device__ __forceinline__ Acc block_sum(Acc v, Acc (&parts)[kWarps]) {
  v = sum_of<32>(v);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  return sum_of<kWarps>(parts[threadIdx.x % kWarps]);
}
