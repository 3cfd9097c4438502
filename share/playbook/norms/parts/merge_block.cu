__device__ __forceinline__ Moments merge_block(Moments a) {
  __shared__ Acc counts[kWarps], means[kWarps], squares[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  a = merge_lanes<32>(a);
  if (lane == 0) {
    counts[warp] = a.count;
    means[warp] = a.mean;
    squares[warp] = a.squares;
  }
  __syncthreads();
  return merge_lanes<kWarps>({counts[lane % kWarps], means[lane % kWarps], squares[lane % kWarps]});
}
