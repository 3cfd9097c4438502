// task: ../tasks/sqrt_f32.yaml
// Carries compiler flags and a register limit; sqrtf stays within the tolerance.
// @flags --prec-sqrt=true
// @maxregs 32
// @launch sqrt_kernel<<<ceil_div(N, 128), 128>>>(x, y, N)
extern "C" __global__ void sqrt_kernel(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = sqrtf(x[i]);
}
