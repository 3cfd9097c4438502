// One thread per element of y.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<long long>(T) * D)
    y[i] = table[static_cast<long long>(indices[i / D]) * D + i % D];
}
