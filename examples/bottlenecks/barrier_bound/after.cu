// warp_shuffles, more_work_per_barrier: a thread adds up four elements, warps scan their sums without barriers; the block meets twice.
// @launch scan<<<M, 256>>>(x, y, M, N)
__device__ float warp_scan(float sum) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const float other = __shfl_up_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 >= step) sum += other;
  }
  return sum;
}
__global__ void scan(const half* __restrict__ x, half* __restrict__ y, int M, int N) {
  __shared__ float sums[8];
  const int t = threadIdx.x;
  const half* from = x + blockIdx.x * N;
  half* to = y + blockIdx.x * N;
  float carry = 0.0f;
  for (int start = 0; start < N; start += 1024) {
    const int i = start + t * 4;
    const bool whole = N % 4 == 0 && i < N; // four elements at an address that is a multiple of 8
    half value[4] = {};
    if (whole)
      *(uint2*)value = *(const uint2*)(from + i);
    else
      for (int u = 0; u < 4; u++)
        if (i + u < N) value[u] = from[i + u];
    float sum[4];
    sum[0] = __half2float(value[0]);
#pragma unroll
    for (int u = 1; u < 4; u++) sum[u] = sum[u - 1] + __half2float(value[u]);
    const float scanned = warp_scan(sum[3]);
    if (t % 32 == 31) sums[t / 32] = scanned;
    __syncthreads();
    float offset = carry + scanned - sum[3];
#pragma unroll
    for (int w = 0; w < 8; w++) {
      if (w < t / 32) offset += sums[w];
      carry += sums[w];
    }
#pragma unroll
    for (int u = 0; u < 4; u++) value[u] = __float2half(offset + sum[u]);
    if (whole)
      *(uint2*)(to + i) = *(const uint2*)value;
    else
      for (int u = 0; u < 4; u++)
        if (i + u < N) to[i + u] = value[u];
    __syncthreads();
  }
}
