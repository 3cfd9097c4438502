// One thread per element.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N)
    y[static_cast<long long>(col) * M + row] = x[static_cast<long long>(row) * N + col];
}
