// Four elements a thread; the first threads take the remainder.
// @tune BLOCK 128 256 512
// @launch saxpby4<<<ceil_div(max(N / 4, 4), BLOCK), BLOCK>>>(x, y, mask, z, N, a, b)
__device__ float choose(float x, float y, signed char mask, float a, float b) {
  return mask ? a * x + b * y : y;
}

extern "C" __global__ void saxpby4(const float* __restrict__ x, const float* __restrict__ y,
                                   const signed char* __restrict__ mask, float* __restrict__ z, int N, float a,
                                   float b) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const int quads = N / 4;
  if (i < quads) {
    const float4 u = reinterpret_cast<const float4*>(x)[i];
    const float4 v = reinterpret_cast<const float4*>(y)[i];
    const char4 m = reinterpret_cast<const char4*>(mask)[i];
    reinterpret_cast<float4*>(z)[i] = make_float4(choose(u.x, v.x, m.x, a, b), choose(u.y, v.y, m.y, a, b),
                                                  choose(u.z, v.z, m.z, a, b), choose(u.w, v.w, m.w, a, b));
  }
  const int rest = quads * 4 + i;
  if (i < 4 && rest < N) z[rest] = choose(x[rest], y[rest], mask[rest], a, b);
}
