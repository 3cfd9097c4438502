// Each block's place in the output is counted by a launch of its own.
// expect: correct
// task: compact.yaml
// @scratch count int [ceil_div(N, 256)]
// @launch tally<<<ceil_div(N, 256), 256>>>(x, y, count, N)
// @launch place<<<ceil_div(N, 256), 256>>>(x, y, count, N)
extern "C" __global__ void tally(const float* x, float* y, int* count, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = 0;
  const int positive = __syncthreads_count(i < N && x[i] > 0);
  if (threadIdx.x == 0) count[blockIdx.x] = positive;
}

extern "C" __global__ void place(const float* x, float* y, const int* count, int N) {
  __shared__ int base, in_warp[8];
  const int i = blockIdx.x * 256 + threadIdx.x, warp = threadIdx.x / 32;
  const bool positive = i < N && x[i] > 0;
  const unsigned votes = __ballot_sync(~0u, positive);
  if (threadIdx.x % 32 == 0) in_warp[warp] = __popc(votes);
  const int all = __syncthreads_count(positive);
  if (threadIdx.x == 0) {
    base = 0;
    for (unsigned b = 0; b < blockIdx.x; b++) base += count[b];
  }
  __syncthreads();
  int at = base + __popc(votes & ((1u << threadIdx.x % 32) - 1));
  for (int w = 0; w < warp; w++) at += in_warp[w];
  if (positive && all > 0) y[at] = x[i];
}
