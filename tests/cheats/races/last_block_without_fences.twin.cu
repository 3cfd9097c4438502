// With the fences.
// expect: correct
// task: long_sum.yaml
// @scratch part float [OUTER * 8]
// @scratch count int32 [OUTER]
// @launch clear<<<ceil_div(OUTER, 256), 256>>>(count, OUTER)
// @launch sum<<<dim3(8, OUTER), 128>>>(x, y, part, count, R)
extern "C" __global__ void clear(int* count, int n) { const int i = blockIdx.x * 256 + threadIdx.x; if (i < n) count[i] = 0; }
extern "C" __global__ void sum(const float* x, float* y, float* part, int* count, int R) {
  __shared__ float w[4];
  float s = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < R; i += 1024) s += x[(size_t)blockIdx.y * R + i];
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    part[blockIdx.y * 8 + blockIdx.x] = (w[0] + w[1]) + (w[2] + w[3]);
    __threadfence();
    if (atomicAdd(&count[blockIdx.y], 1) == 7) {
      __threadfence();
      float all = 0;
      for (int i = 0; i < 8; ++i) all += __ldcg(&part[blockIdx.y * 8 + i]);
      y[blockIdx.y] = all;
    }
  }
}
