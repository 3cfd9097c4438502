// One thread per element of y.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int P = (H + 2 * padding - R) / stride + 1;
  int Q = (W + 2 * padding - S) / stride + 1;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(N) * K * P * Q)
    return;
  int q = i % Q;
  int p = i / Q % P;
  int k = i / Q / P % K;
  int n = i / Q / P / K;
  int channels = C / groups;
  int first_channel = k / (K / groups) * channels;
  Acc sum = 0;
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < S; ++s) {
        int row = p * stride - padding + r;
        int col = q * stride - padding + s;
        if (row < 0 || row >= H || col < 0 || col >= W)
          continue;
        long long in = ((static_cast<long long>(n) * C + first_channel + c) * H + row) * W + col;
        long long weight = ((static_cast<long long>(k) * channels + c) * R + r) * S + s;
        sum += static_cast<Acc>(x[in]) * static_cast<Acc>(w[weight]);
      }
  y[i] = static_cast<Out>(sum);
}
