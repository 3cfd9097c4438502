// Neighbouring lanes go different ways: every warp executes both loops, each with half of its lanes.
// @launch two_ways<<<ceil_div(N, 256), 256>>>(x, y, N, a, b, c, d)
__global__ void two_ways(const float* __restrict__ x, float* __restrict__ y, int N, float a, float b, float c, float d) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  float v = x[i];
  if (i % 2 == 0) {
#pragma unroll 16
    for (int s = 0; s < 256; s++) v = a * v + b;
  } else {
#pragma unroll 16
    for (int s = 0; s < 256; s++) v = c * v * v + d;
  }
  y[i] = v;
}
