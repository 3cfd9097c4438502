// task: ../tasks/reduce_max_i32.yaml
// expect: correctness_mismatch
// bug: the maximum starts at 500
// @launch reduce_redux<<<OUTER * INNER, 32>>>(x, y, R, INNER)
extern "C" __global__ void reduce_redux(const int* x, int* y, int R, int INNER) {
  const int* row = x + static_cast<size_t>(blockIdx.x / INNER) * R * INNER + blockIdx.x % INNER;
  int best = 500;
  for (int i = threadIdx.x; i < R; i += 32) best = max(best, row[static_cast<size_t>(i) * INNER]);
  best = __reduce_max_sync(0xffffffffu, best);
  if (threadIdx.x == 0) y[blockIdx.x] = best;
}
