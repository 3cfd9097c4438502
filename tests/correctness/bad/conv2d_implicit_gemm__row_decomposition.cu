// task: ../tasks/conv2d_f32.yaml
// expect: uninitialized_memory_error
// bug: p is taken from the wrong division
// @launch conv2d_gemm<<<dim3(ceil_div(K, 16), ceil_div(N * P * Q, 16)), dim3(16, 16)>>>(x, w, y, N, C, H, W, K, R, S, P, Q, stride, padding)
extern "C" __global__ void conv2d_gemm(const float* x, const float* w, float* y, int N, int C, int H, int W, int K,
                                       int R, int S, int P, int Q, int stride, int padding) {
  __shared__ float a_tile[16][16];
  __shared__ float b_tile[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int pixels = N * P * Q, depth = C * R * S;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  const int n = row / (P * Q), p = row / P % P, q = row % Q;
  const int filter = blockIdx.x * 16 + ty;
  float sum = 0.0f;
  for (int d0 = 0; d0 < depth; d0 += 16) {
    const int d = d0 + tx;
    const int c = d / (R * S), r = d / S % R, s = d % S;
    const int h = p * stride - padding + r, v = q * stride - padding + s;
    const bool inside = row < pixels && d < depth && h >= 0 && h < H && v >= 0 && v < W;
    a_tile[ty][tx] = inside ? x[((n * C + c) * H + h) * W + v] : 0.0f;
    b_tile[tx][ty] = filter < K && d < depth ? w[filter * depth + d] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += a_tile[ty][i] * b_tile[i][tx];
    __syncthreads();
  }
  if (row < pixels && col < K) y[((n * K + col) * P + p) * Q + q] = sum;
}
