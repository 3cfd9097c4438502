// task: ../tasks/max_pool2d_f32.yaml
// expect: correctness_mismatch
// bug: windows of negative values give zero
// @launch max_pool<<<dim3(ceil_div(Q, 16), ceil_div(P, 8), N * C), dim3(16, 8)>>>(x, y, H, W, P, Q, kernel, stride, padding)
extern "C" __global__ void max_pool(const float* x, float* y, int H, int W, int P, int Q, int kernel, int stride,
                                    int padding) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y * blockDim.y + threadIdx.y;
  if (p >= P || q >= Q) return;
  const float* plane = x + static_cast<size_t>(blockIdx.z) * H * W;
  float best = 0.0f;
  for (int r = 0; r < kernel; r++)
    for (int s = 0; s < kernel; s++) {
      const int h = p * stride - padding + r, w = q * stride - padding + s;
      if (h >= 0 && h < H && w >= 0 && w < W) best = fmaxf(best, plane[h * W + w]);
    }
  y[(static_cast<size_t>(blockIdx.z) * P + p) * Q + q] = best;
}
