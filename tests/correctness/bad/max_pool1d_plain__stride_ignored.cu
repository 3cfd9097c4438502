// task: ../tasks/max_pool1d_f32.yaml
// expect: correctness_mismatch
// bug: windows overlap
// @launch max_pool1d<<<dim3(ceil_div(P, 64), N * C), 64>>>(x, y, L, P, kernel, stride, padding)
extern "C" __global__ void max_pool1d(const float* x, float* y, int L, int P, int kernel, int stride, int padding) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= P) return;
  float best = -INFINITY;
  for (int r = 0; r < kernel; r++) {
    const int l = p - padding + r;
    if (l >= 0 && l < L) best = fmaxf(best, x[blockIdx.y * L + l]);
  }
  y[blockIdx.y * P + p] = best;
}
