// Over the block; the first warp gets the result.
__device__ __forceinline__ Part merge_block(Part part) {
  __shared__ Part parts[kWarps];
  part = merge_lanes<32>(part);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;
  __syncthreads();
  return merge_lanes<kWarps>(parts[threadIdx.x % kWarps]);
}
