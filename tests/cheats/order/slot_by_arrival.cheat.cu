// One block, a thousand elements at a time: each thread takes the next slot by an atomic, so the order of threads is that of the elements.
// expect: refused
// faults: race_or_sync_error
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
  for (int from = 0; from < N; from += 1024) {
    const int i = from + threadIdx.x;
    const bool positive = i < N && x[i] > 0;
    if (positive) y[atomicAdd(head, 1)] = x[i];
    __syncthreads();
  }
}
