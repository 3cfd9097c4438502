// task: ../tasks/histogram.yaml
// expect: correctness_mismatch
// bug: counts values up to the bin
__global__ void histogram(const int* x, int* counts, int N, int BINS) {
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
    int count = 0;
    for (int i = 0; i < N; i++) count += x[i] <= bin;
    counts[bin] = count;
  }
}
