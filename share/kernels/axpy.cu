// One thread per element.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N)
    y[i] = static_cast<Out>(alpha * static_cast<Acc>(x[i]) + static_cast<Acc>(y[i]));
}
