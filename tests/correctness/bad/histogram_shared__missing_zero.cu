// task: ../tasks/histogram.yaml
// expect: uninitialized_memory_error
// bug: the private counts are not cleared
// @launch clear<<<1, 64>>>(counts, BINS)
// @launch histogram_shared<<<ceil_div(N, 512), 128, BINS * 4>>>(x, counts, N, BINS)
extern "C" __global__ void clear(int* counts, int BINS) {
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) counts[i] = 0;
}

extern "C" __global__ void histogram_shared(const int* x, int* counts, int N, int BINS) {
  extern __shared__ int local[];
  for (int j = 0; j < 4; j++) {
    const int i = blockIdx.x * 512 + j * 128 + threadIdx.x;
    if (i < N) atomicAdd(&local[x[i]], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x)
    if (local[i] != 0) atomicAdd(&counts[i], local[i]);
}
