// A sum of doubles is kept in doubles, four of them.
// expect: correct
// task: double.yaml
// @launch add_up<<<OUTER, 32>>>(x, y, R)
extern "C" __global__ void add_up(const double* x, double* y, int R) {
  const double* in = x + (size_t)blockIdx.x * R;
  double part[4] = {0, 0, 0, 0};
  for (int i = threadIdx.x, turn = 0; i < R; i += 32, turn++) part[turn % 4] += in[i];
  double sum = part[0] + part[1] + part[2] + part[3];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
