// task: ../tasks/histogram.yaml
// expect: uninitialized_memory_error
// bug: only the first eight bins are counted
__global__ void histogram(const int* x, int* counts, int N, int BINS) {
  for (int bin = threadIdx.x; bin < min(BINS, 8); bin += blockDim.x) {
    int count = 0;
    for (int i = 0; i < N; i++) count += x[i] == bin;
    counts[bin] = count;
  }
}
