// fuse_passes: all steps in one pass, the value stays in a register.
// @launch relax<<<ceil_div(N, 256), 256>>>(x, y, N, a, b)
__global__ void relax(const float* __restrict__ x, float* __restrict__ y, int N, float a, float b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float v = x[i];
#pragma unroll 32
  for (int s = 0; s < 128; s++) v = fmaf(a, v, b);
  y[i] = v;
}
