// One thread per element.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(M) * N)
    return;
  Acc v = static_cast<Acc>(x[i]) + static_cast<Acc>(bias[i % N]);
  y[i] = static_cast<Out>({{expression}});
}
