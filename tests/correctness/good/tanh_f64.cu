// task: ../tasks/tanh_f64.yaml
// @launch tanh_f64<<<ceil_div(N, 128), 128>>>(x, y, N)
extern "C" __global__ void tanh_f64(const double* x, double* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = tanh(x[i]);
}
