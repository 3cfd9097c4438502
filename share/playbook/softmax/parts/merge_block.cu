// The threads' pairs as one pair for the whole block, known to all its threads.
__device__ __forceinline__ void merge_block(Acc& largest, Acc& sum) {
  __shared__ Acc part_largest[kWarps], part_sum[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Acc warp_largest = largest_of<32>(largest);
  const Acc warp_sum = sum_of<32>(sum > 0 ? sum * exp(largest - warp_largest) : 0);
  if (lane == 0) {
    part_largest[warp] = warp_largest;
    part_sum[warp] = warp_sum;
  }
  __syncthreads();
  const Acc part = part_largest[lane % kWarps];
  largest = largest_of<kWarps>(part);
  sum = sum_of<kWarps>(part_sum[lane % kWarps] * exp(part - largest));
}
