// task: ../tasks/conv2d_f32.yaml
// expect: correctness_mismatch
// bug: the patch is read with the tile width as stride
// @launch conv2d_tiled<<<dim3(ceil_div(Q, 8), ceil_div(P, 8), N * K), dim3(8, 8), (7 * stride + R) * (7 * stride + S) * 4>>>(x, w, y, C, H, W, K, R, S, P, Q, stride, padding, groups)
extern "C" __global__ void conv2d_tiled(const float* x, const float* w, float* y, int C, int H, int W, int K, int R,
                                        int S, int P, int Q, int stride, int padding, int groups) {
  extern __shared__ float patch[];
  const int n = blockIdx.z / K, k = blockIdx.z % K;
  const int p = blockIdx.y * 8 + threadIdx.y, q = blockIdx.x * 8 + threadIdx.x;
  const int rows = 7 * stride + R, cols = 7 * stride + S;
  const int h0 = blockIdx.y * 8 * stride - padding, w0 = blockIdx.x * 8 * stride - padding;
  const int tid = threadIdx.y * 8 + threadIdx.x;
  const int channels = C / groups, first = k / (K / groups) * channels;
  float sum = 0.0f;
  for (int c = 0; c < channels; c++) {
    const float* plane = x + static_cast<size_t>(n * C + first + c) * H * W;
    for (int i = tid; i < rows * cols; i += 64) {
      const int h = h0 + i / cols, v = w0 + i % cols;
      patch[i] = h >= 0 && h < H && v >= 0 && v < W ? plane[h * W + v] : 0.0f;
    }
    __syncthreads();
    const float* filter = w + (k * channels + c) * R * S;
    for (int r = 0; r < R; r++)
      for (int s = 0; s < S; s++)
        sum += patch[(threadIdx.y * stride + r) * (cols - 1) + threadIdx.x * stride + s] * filter[r * S + s];
    __syncthreads();
  }
  if (p < P && q < Q) y[((n * K + k) * P + p) * Q + q] = sum;
}
