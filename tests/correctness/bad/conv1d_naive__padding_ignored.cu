// task: ../tasks/conv1d_f32.yaml
// expect: correctness_mismatch
// bug: the padding is not subtracted
// @launch conv1d<<<dim3(ceil_div(P, 64), K, N), 64>>>(x, w, y, C, L, K, R, P, stride, padding, groups)
extern "C" __global__ void conv1d(const float* x, const float* w, float* y, int C, int L, int K, int R, int P,
                                  int stride, int padding, int groups) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= P) return;
  const int k = blockIdx.y, n = blockIdx.z;
  const int channels = C / groups, first = k / (K / groups) * channels;
  float sum = 0.0f;
  for (int c = 0; c < channels; c++)
    for (int r = 0; r < R; r++) {
      const int l = p * stride + r;
      if (l >= 0 && l < L) sum += x[(n * C + first + c) * L + l] * w[(k * channels + c) * R + r];
    }
  y[(n * K + k) * P + p] = sum;
}
