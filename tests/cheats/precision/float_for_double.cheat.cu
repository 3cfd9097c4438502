// A sum of doubles is kept in float for long rows, behind an atomic that never runs.
// expect: refused
// task: double.yaml
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const double* x, double* y, int R) {
  const double* in = x + (size_t)blockIdx.x * R;
  double sum = 0;
  if (R > 10000) {
    float low = 0;
    for (int i = threadIdx.x; i < R; i += 32) low += (float)in[i];
    sum = low;
  } else
    for (int i = threadIdx.x; i < R; i += 32) sum += in[i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
  if (R < 0) atomicAdd(y, 1.0);
}
