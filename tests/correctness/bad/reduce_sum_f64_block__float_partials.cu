// task: ../tasks/reduce_sum_f64.yaml
// expect: correctness_mismatch
// bug: partial sums are stored as float
// @launch reduce_f64<<<OUTER * INNER, 64>>>(x, y, R, INNER)
extern "C" __global__ void reduce_f64(const double* x, double* y, int R, int INNER) {
  __shared__ float part[2];
  const double* row = x + static_cast<size_t>(blockIdx.x / INNER) * R * INNER + blockIdx.x % INNER;
  double sum = 0.0;
  for (int i = threadIdx.x; i < R; i += 64) sum += row[static_cast<size_t>(i) * INNER];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1];
}
