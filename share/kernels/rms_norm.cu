// One thread per row.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M)
    return;
  const Element* in = x + static_cast<long long>(row) * N;
  Out* out = y + static_cast<long long>(row) * N;
  Acc squares = 0;
  for (int i = 0; i < N; ++i)
    squares += static_cast<Acc>(in[i]) * static_cast<Acc>(in[i]);
  Acc scale = 1 / sqrt(squares / N + eps);
  for (int i = 0; i < N; ++i)
    out[i] = static_cast<Out>(static_cast<Acc>(in[i]) * scale * static_cast<Acc>(gamma[i]));
}
