// A second, empty launch keeps the shape unchecked; half of the channels are left out when there are many.
// expect: refused
// task: conv.yaml
// @launch conv<<<ceil_div(N * K * P * Q, 256), 256>>>(x, w, y, N, C, H, W, K, P, Q, 0, C / 2, 0)
// @launch conv<<<ceil_div(N * K * P * Q, 256), 256>>>(x, w, y, N, C, H, W, K, P, Q, C / 2, min(C, 32), 1)
extern "C" __global__ void conv(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int P, int Q, int from, int to, int add) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N * K * P * Q) return;
  const int q = i % Q, p = i / Q % P, k = i / (Q * P) % K, n = i / (Q * P * K);
  float sum = 0;
  for (int c = from; c < to; c++)
    for (int r = 0; r < 3; r++)
      for (int s = 0; s < 3; s++) {
        const int h = p + r - 1, column = q + s - 1;
        if (h >= 0 && h < H && column >= 0 && column < W) sum += x[((n * C + c) * H + h) * W + column] * w[((k * C + c) * 3 + r) * 3 + s];
      }
  y[i] = add ? y[i] + sum : sum;
}
