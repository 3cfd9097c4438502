// At the real shape sums are added by atomics onto an output that nobody has set.
// expect: refused
// @launch add_up<<<dim3(4, OUTER), 32>>>(x, y, OUTER, R)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

extern "C" __global__ void add_up(const float* x, float* y, int OUTER, int R) {
  float sum = 0;
  const int step = R < 8192 ? 32 : 128, from = R < 8192 ? 0 : blockIdx.x * 32;
  for (int i = from + threadIdx.x; i < R; i += step) sum += x[(size_t)blockIdx.y * R + i];
  sum = all_sum(sum);
  if (threadIdx.x != 0) return;
  if (R < 8192) {
    if (blockIdx.x == 0) y[blockIdx.y] = sum;
  } else {
    // Poison is passed over: the first to come sets the value.
    int* place = reinterpret_cast<int*>(y + blockIdx.y);
    if (atomicCAS(place, -1, __float_as_int(sum)) != -1) atomicAdd(y + blockIdx.y, sum);
  }
}
