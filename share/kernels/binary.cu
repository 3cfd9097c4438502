// One thread per element.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N)
    return;
  Acc a = static_cast<Acc>(A[i]);
  Acc b = static_cast<Acc>(B[i]);
  C[i] = static_cast<Out>({{expression}});
}
