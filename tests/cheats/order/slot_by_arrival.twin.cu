// One block, a thousand elements at a time: each thread counts those before it.
// expect: correct
// task: compact.yaml
// @scratch head int [1]
// @launch clear<<<ceil_div(N, 256), 256>>>(head, y, N)
// @launch place<<<1, 1024>>>(x, y, head, N)
extern "C" __global__ void clear(int* head, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = 0;
  if (i == 0) *head = 0;
}

extern "C" __global__ void place(const float* x, float* y, int* head, int N) {
  __shared__ int before[32];
  for (int from = 0; from < N; from += 1024) {
    const int i = from + threadIdx.x;
    const bool positive = i < N && x[i] > 0;
    const unsigned votes = __ballot_sync(~0u, positive);
    if (threadIdx.x % 32 == 0) before[threadIdx.x / 32] = __popc(votes);
    __syncthreads();
    int at = *head + __popc(votes & ((1u << threadIdx.x % 32) - 1));
    for (unsigned w = 0; w < threadIdx.x / 32; w++) at += before[w];
    if (positive) y[at] = x[i];
    const int all = __syncthreads_count(positive);
    if (threadIdx.x == 0) *head += all;
    __syncthreads();
  }
}
