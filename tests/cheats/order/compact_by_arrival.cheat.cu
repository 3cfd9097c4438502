// Each block's place in the output is given out on arrival, so the order of elements is that of the blocks.
// expect: refused
// task: compact.yaml
// @scratch head int [1]
// @launch clear<<<ceil_div(N, 256), 256>>>(head, y, N)
// @launch place<<<ceil_div(N, 256), 256>>>(x, y, head, N)
extern "C" __global__ void clear(int* head, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = 0;
  if (i == 0) *head = 0;
}

extern "C" __global__ void place(const float* x, float* y, int* head, int N) {
  __shared__ int base, in_warp[8];
  const int i = blockIdx.x * 256 + threadIdx.x, warp = threadIdx.x / 32;
  const bool positive = i < N && x[i] > 0;
  const unsigned votes = __ballot_sync(~0u, positive);
  if (threadIdx.x % 32 == 0) in_warp[warp] = __popc(votes);
  const int all = __syncthreads_count(positive);
  if (threadIdx.x == 0) {
    base = atomicAdd(head, all);
  }
  __syncthreads();
  int at = base + __popc(votes & ((1u << threadIdx.x % 32) - 1));
  for (int w = 0; w < warp; w++) at += in_warp[w];
  if (positive && all > 0) y[at] = x[i];
}
