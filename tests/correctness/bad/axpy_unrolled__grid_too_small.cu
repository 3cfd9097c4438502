// task: ../tasks/axpy_f32.yaml
// expect: correctness_mismatch
// bug: the grid does not count the items of a thread
// @tune ITEMS 4 1 2 8
// @launch axpy<<<ceil_div(N, 256 * ITEMS), 128>>>(x, y, N, alpha)
extern "C" __global__ void axpy(const float* __restrict__ x, float* __restrict__ y, int N, float alpha) {
  const int base = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
#pragma unroll
  for (int j = 0; j < ITEMS; j++) {
    const int i = base + j * blockDim.x;
    if (i < N) y[i] = alpha * x[i] + y[i];
  }
}
