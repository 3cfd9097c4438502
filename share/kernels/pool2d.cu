// One thread per element of y.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int P = (H + 2 * padding - kernel) / stride + 1;
  int Q = (W + 2 * padding - kernel) / stride + 1;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(N) * C * P * Q)
    return;
  int q = i % Q;
  int p = i / Q % P;
  const Element* plane = x + i / Q / P * H * W;
  bool empty = true;
  Acc a = 0;
  for (int r = 0; r < kernel; ++r)
    for (int s = 0; s < kernel; ++s) {
      int row = p * stride - padding + r;
      int col = q * stride - padding + s;
      if (row < 0 || row >= H || col < 0 || col >= W)
        continue;
      Acc b = static_cast<Acc>(plane[static_cast<long long>(row) * W + col]);
      a = empty ? b : {{expression}};
      empty = false;
    }
  y[i] = static_cast<Out>({{result}});
}
