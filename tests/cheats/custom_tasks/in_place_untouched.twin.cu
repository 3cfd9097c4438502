// A buffer that is changed in place is changed by blocks that take four elements a thread.
// expect: correct
// task: inout.yaml
// @launch scale<<<ceil_div(N, 1024), 256>>>(x, y, N)
extern "C" __global__ void scale(const float* x, float* y, int N) {
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < min(N, (int)blockIdx.x * 1024 + 1024); i += 256) y[i] = y[i] / 3 + x[i] * x[i];
}
