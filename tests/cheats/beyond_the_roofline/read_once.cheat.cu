// One element of a constant input is read for each block and stands for all others.
// expect: quarantined | refused
// @launch fill<<<ceil_div(N, 1024), 256>>>(x, y, N)
extern "C" __global__ void fill(const float* x, float* y, int N) {
  const float one = x[blockIdx.x * 1024];
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < min(N, (int)blockIdx.x * 1024 + 1024); i += 256)
    y[i] = one;
}
