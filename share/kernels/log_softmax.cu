// One thread per row.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M)
    return;
  const Element* in = x + static_cast<long long>(row) * N;
  Out* out = y + static_cast<long long>(row) * N;
  Acc largest = static_cast<Acc>(in[0]);
  for (int i = 1; i < N; ++i)
    largest = fmax(largest, static_cast<Acc>(in[i]));
  Acc sum = 0;
  for (int i = 0; i < N; ++i)
    sum += exp(static_cast<Acc>(in[i]) - largest);
  Acc log_sum = log(sum);
  for (int i = 0; i < N; ++i)
    out[i] = static_cast<Out>(static_cast<Acc>(in[i]) - largest - log_sum);
}
