// task: ../tasks/conv2d_grouped_f32.yaml
// expect: correctness_mismatch
// bug: the stride is left out horizontally
// @launch conv2d_grouped<<<dim3(ceil_div(P * Q, 64), K, N), 64, C / groups * R * S * 4>>>(x, w, y, C, H, W, K, R, S, P, Q, stride, padding, groups)
extern "C" __global__ void conv2d_grouped(const float* x, const float* w, float* y, int C, int H, int W, int K, int R,
                                          int S, int P, int Q, int stride, int padding, int groups) {
  extern __shared__ float filter[];
  const int k = blockIdx.y, n = blockIdx.z;
  const int channels = C / groups, taps = channels * R * S;
  for (int i = threadIdx.x; i < taps; i += blockDim.x) filter[i] = w[k * taps + i];
  __syncthreads();
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= P * Q) return;
  const int h0 = pixel / Q * stride - padding, w0 = pixel % Q - padding;
  const int first = k / (K / groups) * channels;
  float sum = 0.0f;
  for (int c = 0; c < channels; c++)
    for (int r = 0; r < R; r++) {
      const int h = h0 + r;
      if (h < 0 || h >= H) continue;
      for (int s = 0; s < S; s++) {
        const int v = w0 + s;
        if (v < 0 || v >= W) continue;
        sum += x[((n * C + first + c) * H + h) * W + v] * filter[(c * R + r) * S + s];
      }
    }
  y[(n * K + k) * P * Q + pixel] = sum;
}
