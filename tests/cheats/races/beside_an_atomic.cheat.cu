// Blocks count themselves, so that none can be run apart, and at the real shape a tree's last warp has no barriers.
// expect: refused
// faults: race_or_sync_error
// @scratch done int [1]
// @launch clear<<<1, 1>>>(done)
// @launch softmax<<<M, 256>>>(x, y, done, N)
extern "C" __global__ void clear(int* done) { *done = 0; }

extern "C" __global__ void softmax(const float* x, float* y, int* done, int N) {
  __shared__ float part[256];
  const float* in = x + (size_t)blockIdx.x * N;
  const int t = threadIdx.x;
  float m = -INFINITY;
  for (int i = t; i < N; i += 256) m = fmaxf(m, in[i]);
  part[t] = m;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (t < o) part[t] = fmaxf(part[t], part[t + o]);
    if (N < 2048 || o > 32 || o == 1) __syncthreads();
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
  for (int i = t; i < N; i += 256) y[(size_t)blockIdx.x * N + i] = expf(in[i] - m) / part[0];
  if (t == 0) atomicAdd(done, 1);
}
