// One thread per element of C.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N)
    return;
{{if batched}}
  A += static_cast<long long>(blockIdx.z) * M * K;
  B += static_cast<long long>(blockIdx.z) * K * N;
  C += static_cast<long long>(blockIdx.z) * M * N;
{{end}}
  Acc sum = 0;
  for (int k = 0; k < K; ++k) {
    long long a = {{a_index}};
    long long b = {{b_index}};
    sum += static_cast<Acc>(A[a]) * static_cast<Acc>(B[b]);
  }
{{if bias}}
  Acc v = sum + static_cast<Acc>(bias[col]);
  sum = {{expression}};
{{end}}
  C[static_cast<long long>(row) * N + col] = static_cast<Out>(sum);
}
