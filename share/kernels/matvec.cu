// One thread per element of y.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M)
    return;
  Acc sum = 0;
  for (int i = 0; i < N; ++i)
    sum += static_cast<Acc>(A[static_cast<long long>(row) * N + i]) * static_cast<Acc>(x[i]);
  y[row] = static_cast<Out>(sum);
}
