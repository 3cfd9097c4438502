// task: ../tasks/tanh_f64.yaml
// expect: correctness_mismatch
// bug: computed in single precision
// @launch tanh_f64<<<ceil_div(N, 128), 128>>>(x, y, N)
extern "C" __global__ void tanh_f64(const double* x, double* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = tanhf(static_cast<float>(x[i]));
}
