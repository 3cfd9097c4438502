// task: ../tasks/smooth.yaml
// expect: correctness_mismatch
// bug: the first window element is never set
// @launch smooth_window<<<ceil_div(ceil_div(N, 16), 32), 32>>>(x, y, N)
extern "C" __global__ void smooth_window(const float* x, float* y, int N) {
  const float taps[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
  const int start = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
  if (start >= N) return;
  float window[5];
  for (int t = 1; t < 4; t++) window[t] = x[min(max(start + t - 2, 0), N - 1)];
  int head = 4;
  for (int i = start; i < min(start + 16, N); i++) {
    window[head % 5] = x[min(i + 2, N - 1)];
    float sum = 0.0f;
    for (int t = 0; t < 5; t++) sum += taps[t] * window[(head + 1 + t) % 5];
    y[i] = sum;
    head++;
  }
}
