// The grid is capped at 2048 blocks, which stride over the array.
// expect: correct
// @launch saxpby<<<min(ceil_div(N, 256), 2048), 256>>>(x, y, mask, z, N, a, b)
extern "C" __global__ void saxpby(const float* x, const float* y, const signed char* mask, float* z, int N, float a, float b) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256)
    z[i] = mask[i] ? a * x[i] + b * y[i] : y[i];
}
