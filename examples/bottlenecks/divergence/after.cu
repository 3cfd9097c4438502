// branch_by_warp: the even elements of a block go to its first warps, the odd ones to the others.
// @launch two_ways<<<ceil_div(N, 256), 256>>>(x, y, N, a, b, c, d)
__global__ void two_ways(const float* __restrict__ x, float* __restrict__ y, int N, float a, float b, float c, float d) {
  const bool odd = threadIdx.x >= 128;
  const int i = blockIdx.x * 256 + threadIdx.x % 128 * 2 + odd;
  if (i >= N) return;
  float v = x[i];
  if (!odd) {
#pragma unroll 16
    for (int s = 0; s < 256; s++) v = a * v + b;
  } else {
#pragma unroll 16
    for (int s = 0; s < 256; s++) v = c * v * v + d;
  }
  y[i] = v;
}
