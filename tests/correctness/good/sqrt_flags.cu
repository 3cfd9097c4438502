// task: ../tasks/sqrt_f32.yaml
// @flags and @maxregs users: sqrtf stays within the task's tolerance.
// @flags --prec-sqrt=true
// @maxregs 32
// @launch sqrt_kernel<<<ceil_div(N, 128), 128>>>(x, y, N)
extern "C" __global__ void sqrt_kernel(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = sqrtf(x[i]);
}
