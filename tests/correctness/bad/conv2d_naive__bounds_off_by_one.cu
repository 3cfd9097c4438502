// task: ../tasks/conv2d_f32.yaml
// expect: memory_safety_error
// bug: one column past the image is read
// @launch conv2d<<<ceil_div(N * K * P * Q, 128), 128>>>(x, w, y, N, C, H, W, K, R, S, P, Q, stride, padding, groups)
extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R,
                                  int S, int P, int Q, int stride, int padding, int groups) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * K * P * Q) return;
  const int q = i % Q, p = i / Q % P, k = i / (Q * P) % K, n = i / (Q * P * K);
  const int channels = C / groups, first = k / (K / groups) * channels;
  float sum = 0.0f;
  for (int c = 0; c < channels; c++)
    for (int r = 0; r < R; r++)
      for (int s = 0; s < S; s++) {
        const int h = p * stride - padding + r, v = q * stride - padding + s;
        if (h >= 0 && h < H && v >= 0 && v <= W)
          sum += x[((n * C + first + c) * H + h) * W + v] * w[((k * channels + c) * R + r) * S + s];
      }
  y[i] = sum;
}
