// Each lane of a warp adds up its share of a row in half precision, two columns at a time.
// expect: refused
// task: half_sums.yaml
// @launch rows<<<R, 32>>>(x, w, y, R, C)
#include <cuda_fp16.h>
extern "C" __global__ void rows(const __half* x, const __half* w, __half* y, int R, int C) {
  const __half2* row = reinterpret_cast<const __half2*>(x + (long long)blockIdx.x * C);
  const __half2* weights = reinterpret_cast<const __half2*>(w);
  __half2 sums = __float2half2_rn(0.0f);
  for (int c = threadIdx.x; c < C / 2; c += 32) sums = __hfma2(row[c], weights[c], sums);
  float sum = __low2float(sums) + __high2float(sums);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x] = __float2half(sum);
}
