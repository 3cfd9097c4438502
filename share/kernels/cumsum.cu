// One thread per row.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M)
    return;
  Acc sum = 0;
  for (int i = 0; i < N; ++i) {
    long long at = static_cast<long long>(row) * N + i;
    sum += static_cast<Acc>(x[at]);
    y[at] = static_cast<Out>(sum);
  }
}
