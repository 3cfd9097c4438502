// A scan over the block in ten steps, with all 32 warps meeting at two barriers in each.
// @launch scan<<<M, 1024>>>(x, y, M, N)
__global__ void scan(const half* __restrict__ x, half* __restrict__ y, int M, int N) {
  __shared__ float sums[1024];
  const int t = threadIdx.x;
  float carry = 0.0f;
  for (int start = 0; start < N; start += 1024) {
    const int i = start + t;
    float sum = i < N ? __half2float(x[blockIdx.x * N + i]) : 0.0f;
    sums[t] = sum;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
      const float other = t >= step ? sums[t - step] : 0.0f;
      __syncthreads();
      sum += other;
      sums[t] = sum;
      __syncthreads();
    }
    if (i < N) y[blockIdx.x * N + i] = __float2half(carry + sum);
    carry += sums[1023];
    __syncthreads();
  }
}
