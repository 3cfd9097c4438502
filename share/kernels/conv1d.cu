// One thread per element of y.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int P = (L + 2 * padding - R) / stride + 1;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(N) * K * P)
    return;
  int p = i % P;
  int k = i / P % K;
  int n = i / P / K;
  int channels = C / groups;
  int first_channel = k / (K / groups) * channels;
  Acc sum = 0;
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < R; ++r) {
      int l = p * stride - padding + r;
      if (l < 0 || l >= L)
        continue;
      sum += static_cast<Acc>(x[(static_cast<long long>(n) * C + first_channel + c) * L + l]) *
             static_cast<Acc>(w[(static_cast<long long>(k) * channels + c) * R + r]);
    }
  y[i] = static_cast<Out>(sum);
}
