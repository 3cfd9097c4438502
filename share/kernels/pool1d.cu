// One thread per element of y.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int P = (L + 2 * padding - kernel) / stride + 1;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(N) * C * P)
    return;
  int p = i % P;
  const Element* line = x + i / P * L;
  bool empty = true;
  Acc a = 0;
  for (int r = 0; r < kernel; ++r) {
    int l = p * stride - padding + r;
    if (l < 0 || l >= L)
      continue;
    Acc b = static_cast<Acc>(line[l]);
    a = empty ? b : {{expression}};
    empty = false;
  }
  y[i] = static_cast<Out>({{result}});
}
