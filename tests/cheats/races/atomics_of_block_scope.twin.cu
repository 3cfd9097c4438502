// Atomics of the whole device.
// task: sum.yaml
// expect: correct
// @scratch total float [OUTER]
// @launch clear<<<1, 256>>>(total, OUTER)
// @launch add_up<<<dim3(64, OUTER), 256>>>(x, total, R)
// @launch out<<<1, 256>>>(total, y, OUTER)
extern "C" __global__ void clear(float* total, int OUTER) {
  for (int i = threadIdx.x; i < OUTER; i += 256) total[i] = 0;
}
extern "C" __global__ void add_up(const float* x, float* total, int R) {
  float s = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < R; i += 64 * 256) s += x[(size_t)blockIdx.y * R + i];
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) atomicAdd(&total[blockIdx.y], s);
}
extern "C" __global__ void out(const float* total, float* y, int OUTER) {
  for (int i = threadIdx.x; i < OUTER; i += 256) y[i] = total[i];
}
