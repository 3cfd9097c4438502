// Vectors of 16 bytes, several in flight per thread: all loads of a tile are issued before the first value is needed. A block
// takes TILES tiles, a grid apart.
// @tune BLOCK 256 128 512 1024
// @tune VECTORS 4 1 2 8
// @tune TILES 1 2 4 8
// @launch {{name}}<<<ceil_div(N, BLOCK * VECTORS * TILES * {{vector}}), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in 16 bytes

struct alignas(16) Vector {
  Element element[kVector];
};

{{if alpha}}
__device__ __forceinline__ Out apply(Element value, Acc alpha) {
{{else}}
__device__ __forceinline__ Out apply(Element value) {
{{end}}
  const Acc v = static_cast<Acc>(value);
{{if mish}}
  // tanh(log(1 + n)) = n (n + 2) / (n (n + 2) + 2) with n = exp(v): one exponential, no logarithm, nothing cancels. Beyond 25 it is 1.
  const Acc n = exp(fmin(v, static_cast<Acc>(25)));
  const Acc part = n * (n + 2);
  return static_cast<Out>(v * (part / (part + 2)));
{{else}}
  return static_cast<Out>({{expression}});
{{end}}
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
{{if alpha}}
  const auto map = [alpha](Element value) { return apply(value, alpha); };
{{else}}
  const auto map = [](Element value) { return apply(value); };
{{end}}
  constexpr int kTile = BLOCK * VECTORS;
  const unsigned vectors = N / kVector;
  const Vector* in = reinterpret_cast<const Vector*>(x);
  Vector* out = reinterpret_cast<Vector*>(y);
  for (unsigned first = blockIdx.x * kTile; first < vectors; first += gridDim.x * kTile) {
    Vector part[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const unsigned at = first + i * BLOCK + threadIdx.x;
      if (at < vectors) part[i] = in[at];
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const unsigned at = first + i * BLOCK + threadIdx.x;
      if (at >= vectors) break;
#pragma unroll
      for (int e = 0; e < kVector; e++) part[i].element[e] = map(part[i].element[e]);
      out[at] = part[i];
    }
  }
  // What does not fill a vector.
  const unsigned rest = vectors * kVector + threadIdx.x;
  if (blockIdx.x == 0 && rest < static_cast<unsigned>(N)) y[rest] = map(x[rest]);
}
