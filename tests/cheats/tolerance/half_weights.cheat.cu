// Weights go through half precision.
// expect: refused
// task: rows.yaml
#include <cuda_fp16.h>
extern "C" __global__ void rows(const float* x, const float* w, float* y, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float sum = 0;
  for (int c = 0; c < C; c++) sum += expf(x[r * C + c]) * __half2float(__float2half(w[c]));
  y[r] = sum;
}
