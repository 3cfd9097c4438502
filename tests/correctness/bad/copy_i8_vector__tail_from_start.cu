// task: ../tasks/copy_i8.yaml
// expect: correctness_mismatch
// bug: the tail is copied from the start
// @launch copy_i8<<<ceil_div(max(N / 16, 16), 64), 64>>>(x, y, N)
extern "C" __global__ void copy_i8(const signed char* x, signed char* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int words = N / 16;
  if (i < words) reinterpret_cast<int4*>(y)[i] = reinterpret_cast<const int4*>(x)[i];
  if (i < 16 && words * 16 + i < N) y[words * 16 + i] = x[i];
}
