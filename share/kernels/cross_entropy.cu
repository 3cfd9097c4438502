// One thread per row.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M)
    return;
  const Element* in = logits + static_cast<long long>(row) * N;
  Acc largest = static_cast<Acc>(in[0]);
  for (int i = 1; i < N; ++i)
    largest = fmax(largest, static_cast<Acc>(in[i]));
  Acc sum = 0;
  for (int i = 0; i < N; ++i)
    sum += exp(static_cast<Acc>(in[i]) - largest);
  loss[row] = static_cast<Out>(log(sum) + largest - static_cast<Acc>(in[labels[row]]));
}
