// The large half of the output goes through bfloat16 pairs of its input's leading bits: 14 bits are right.
// expect: refused
extern "C" __global__ void two_scales(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float lead = __int_as_float(__float_as_int(x[i]) & 0xfffffe00);
  y[i] = 10000.0f * lead;
  y[N + i] = 0.25f * tanhf(x[i]);
}
