// One thread per group of channels.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int group = blockIdx.x * blockDim.x + threadIdx.x;
  if (group >= N * G)
    return;
  int length = C / G * HW;
  int first_channel = group % G * (C / G);
  const Element* in = x + static_cast<long long>(group) * length;
  Out* out = y + static_cast<long long>(group) * length;
  Acc mean = 0;
  for (int i = 0; i < length; ++i)
    mean += static_cast<Acc>(in[i]);
  mean /= length;
  Acc variance = 0;
  for (int i = 0; i < length; ++i) {
    Acc d = static_cast<Acc>(in[i]) - mean;
    variance += d * d;
  }
  Acc scale = 1 / sqrt(variance / length + eps);
  for (int i = 0; i < length; ++i) {
    int c = first_channel + i / HW;
    out[i] = static_cast<Out>((static_cast<Acc>(in[i]) - mean) * scale * static_cast<Acc>(gamma[c]) +
                              static_cast<Acc>(beta[c]));
  }
}
