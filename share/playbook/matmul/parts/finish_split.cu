// Adds up the parts of an element, in a fixed order: the result does not depend on which block was first.
extern "C" __global__ void __launch_bounds__(256) {{name}}_finish(
{{if bias}}
    const Acc* __restrict__ partial, const Element* __restrict__ bias, Out* __restrict__ C, int M, int N) {
{{else}}
    const Acc* __restrict__ partial, Out* __restrict__ C, int M, int N) {
{{end}}
  const long long size = static_cast<long long>(M) * N;
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= size)
    return;
{{if batched}}
  partial += blockIdx.z * SPLIT * size;
  C += blockIdx.z * size;
{{end}}
  Acc part[SPLIT]; // all on their way before the first is used
#pragma unroll
  for (int s = 0; s < SPLIT; s++)
    part[s] = partial[s * size + i];
  Acc sum = 0;
#pragma unroll
  for (int s = 0; s < SPLIT; s++)
    sum += part[s];
{{if bias}}
  const Acc v = sum + static_cast<Acc>(bias[i % N]);
  C[i] = static_cast<Out>({{expression}});
{{else}}
  C[i] = static_cast<Out>(sum);
{{end}}
}
