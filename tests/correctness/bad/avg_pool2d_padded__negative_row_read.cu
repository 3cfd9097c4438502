// task: ../tasks/avg_pool2d_f32.yaml
// expect: memory_safety_error
// bug: the upper edge is not guarded
// @launch avg_pool<<<ceil_div(N * C * P * Q, 128), 128>>>(x, y, N * C, H, W, P, Q, kernel, stride, padding)
extern "C" __global__ void avg_pool(const float* x, float* y, int planes, int H, int W, int P, int Q, int kernel,
                                    int stride, int padding) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < planes * P * Q; i += gridDim.x * blockDim.x) {
    const int q = i % Q, p = i / Q % P, plane = i / (P * Q);
    float sum = 0.0f;
    for (int r = 0; r < kernel; r++)
      for (int s = 0; s < kernel; s++) {
        const int h = p * stride - padding + r, w = q * stride - padding + s;
        if (h < H && w >= 0 && w < W) sum += x[(plane * H + h) * W + w];
      }
    y[i] = sum / (kernel * kernel);
  }
}
