// Functions of double precision for values of single precision.
__global__ void mish(const float* __restrict__ x, float* __restrict__ y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i] * tanh(log1p(exp((double)x[i])));
}
