// One thread per element.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N)
    return;
  Acc v = static_cast<Acc>(x[i]);
  y[i] = static_cast<Out>({{expression}});
}
