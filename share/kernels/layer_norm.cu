// One thread per row.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M)
    return;
  const Element* in = x + static_cast<long long>(row) * N;
  Out* out = y + static_cast<long long>(row) * N;
  Acc mean = 0;
  for (int i = 0; i < N; ++i)
    mean += static_cast<Acc>(in[i]);
  mean /= N;
  Acc variance = 0;
  for (int i = 0; i < N; ++i) {
    Acc d = static_cast<Acc>(in[i]) - mean;
    variance += d * d;
  }
  Acc scale = 1 / sqrt(variance / N + eps);
  for (int i = 0; i < N; ++i)
    out[i] = static_cast<Out>((static_cast<Acc>(in[i]) - mean) * scale * static_cast<Acc>(gamma[i]) +
                              static_cast<Acc>(beta[i]));
}
