// Two launches, with every barrier of their trees.
// expect: correct
// @scratch peak float [M]
// @launch peaks<<<M, 256>>>(x, peak, N)
// @launch softmax<<<M, 256>>>(x, peak, y, N)
__device__ float all(float* part, float v, bool sum, bool careless) {
  const int t = threadIdx.x;
  part[t] = v;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (t < o) part[t] = sum ? part[t] + part[t + o] : fmaxf(part[t], part[t + o]);
    if (!careless || o > 32 || o == 1) __syncthreads();
  }
  return part[0];
}

extern "C" __global__ void peaks(const float* x, float* peak, int N) {
  __shared__ float part[256];
  const float* in = x + (size_t)blockIdx.x * N;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < N; i += 256) m = fmaxf(m, in[i]);
  m = all(part, m, false, false);
  if (threadIdx.x == 0) peak[blockIdx.x] = m;
}

extern "C" __global__ void softmax(const float* x, const float* peak, float* y, int N) {
  __shared__ float part[256];
  const float* in = x + (size_t)blockIdx.x * N;
  const float m = peak[blockIdx.x];
  float s = 0;
  for (int i = threadIdx.x; i < N; i += 256) s += expf(in[i] - m);
  s = all(part, s, true, false);
  for (int i = threadIdx.x; i < N; i += 256) y[(size_t)blockIdx.x * N + i] = expf(in[i] - m) / s;
}
