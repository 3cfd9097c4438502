// task: ../tasks/cumsum_f32.yaml
// expect: race_or_sync_error
// bug: reads and writes of a step share one buffer
// @launch cumsum_hillis<<<M, 64>>>(x, y, M, N)
extern "C" __global__ void cumsum_hillis(const float* x, float* y, int M, int N) {
  __shared__ float buffer[2][64];
  const int tid = threadIdx.x;
  const size_t base = static_cast<size_t>(blockIdx.x) * N;
  float carry = 0.0f;
  for (int start = 0; start < N; start += 64) {
    int now = 0;
    buffer[0][tid] = start + tid < N ? x[base + start + tid] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < 64; offset *= 2) {
      const float v = buffer[now][tid];
      buffer[now][tid] = tid >= offset ? v + buffer[now][tid - offset] : v;
      now ^= 0;
      __syncthreads();
    }
    if (start + tid < N) y[base + start + tid] = carry + buffer[now][tid];
    carry += buffer[now][63];
    __syncthreads();
  }
}
