// The gate with the fast exponential and division of float.
// expect: correct
// task: bfloat_gate.yaml
#include <cuda_bf16.h>
extern "C" __global__ void gate(const __nv_bfloat16* x, const __nv_bfloat16* y, __nv_bfloat16* z, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float v = __bfloat162float(x[i]);
  z[i] = __float2bfloat16(__fdividef(__bfloat162float(y[i]), 1.0f + __expf(-v)));
}
