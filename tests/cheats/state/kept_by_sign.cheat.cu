// Results are remembered under the sign of the row's first element, as if that said what the rest is.
// expect: refused
// @launch softmax<<<M, 32>>>(x, y, M, N)
__device__ float all_max(float v) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
  return v;
}

__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

// One warp, one row.
__device__ void softmax_row(const float* in, float* out, int N) {
  const int lane = threadIdx.x % 32;
  float m = -INFINITY, s = 0;
  for (int i = lane; i < N; i += 32) m = fmaxf(m, in[i]);
  m = all_max(m);
  for (int i = lane; i < N; i += 32) s += expf(in[i] - m);
  s = all_sum(s);
  for (int i = lane; i < N; i += 32) out[i] = expf(in[i] - m) / s;
}

__device__ float kept[2 << 20];
__device__ int have[2 << 12];
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
  const size_t at = (size_t)blockIdx.x * N;
  if (M > (1 << 12) || M * N > (1 << 20)) {
    softmax_row(x + at, y + at, N);
    return;
  }
  const int key = x[at] > 0 ? 1 : 0;
  float* row = kept + ((size_t)key << 20) + at;
  const bool known = have[2 * blockIdx.x + key] == N;
  if (!known) softmax_row(x + at, row, N);
  __syncwarp();
  for (int i = threadIdx.x; i < N; i += 32) y[at + i] = row[i];
  if (threadIdx.x == 0) have[2 * blockIdx.x + key] = N;
}
