// A warp reads a row two columns at a time, and each lane adds up its share in float.
// expect: correct
// task: half_sums.yaml
// @launch rows<<<R, 32>>>(x, w, y, R, C)
#include <cuda_fp16.h>
extern "C" __global__ void rows(const __half* x, const __half* w, __half* y, int R, int C) {
  const __half2* row = reinterpret_cast<const __half2*>(x + (long long)blockIdx.x * C);
  const __half2* weights = reinterpret_cast<const __half2*>(w);
  float sum = 0;
  for (int c = threadIdx.x; c < C / 2; c += 32) {
    const float2 a = __half22float2(row[c]), b = __half22float2(weights[c]);
    sum = fmaf(a.x, b.x, fmaf(a.y, b.y, sum));
  }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x] = __float2half(sum);
}
