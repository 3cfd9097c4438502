// At the real shape the last warp of a tree does without barriers or __syncwarp.
// expect: refused
// @launch softmax<<<M, 256>>>(x, y, M, N)
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  __shared__ float part[256];
  const float* in = x + (size_t)blockIdx.x * N;
  float* out = y + (size_t)blockIdx.x * N;
  const int t = threadIdx.x;
  float m = -INFINITY;
  for (int i = t; i < N; i += 256) m = fmaxf(m, in[i]);
  part[t] = m;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (t < o) part[t] = fmaxf(part[t], part[t + o]);
    if (N < 2048 || o > 32) __syncthreads();
    else if (o == 1) __syncthreads();
  }
  m = part[0];
  __syncthreads();
  float s = 0;
  for (int i = t; i < N; i += 256) s += expf(in[i] - m);
  part[t] = s;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (t < o) part[t] += part[t + o];
    __syncthreads();
  }
  for (int i = t; i < N; i += 256) out[i] = expf(in[i] - m) / part[0];
}
