// The moments of a batch: its mean first, then the deviations from it.
__device__ __forceinline__ Moments moments_of(const Acc (&v)[VECTORS][kVector], int length, bool aligned, int thread) {
  Acc count = 0, sum = 0, squares = 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) {
      count += position(i, j, aligned, thread) < length ? 1 : 0;
      sum += v[i][j];
    }
  const Acc mean = count > 0 ? sum / count : 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) {
      const Acc d = position(i, j, aligned, thread) < length ? v[i][j] - mean : 0;
      squares += d * d;
    }
  return {count, mean, squares};
}
