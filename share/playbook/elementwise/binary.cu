// Vectors of 16 bytes, several of both operands in flight per thread: all loads of a tile are issued before the first value is
// needed. A block takes TILES tiles, a grid apart.
// @tune BLOCK 256 128 512 1024
// @tune VECTORS 2 1 4 8
// @tune TILES 1 2 4 8
// @launch {{name}}<<<ceil_div(N, BLOCK * VECTORS * TILES * {{vector}}), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in 16 bytes

struct alignas(16) Vector {
  Element element[kVector];
};

__device__ __forceinline__ Out apply(Element left, Element right) {
  const Acc a = static_cast<Acc>(left);
  const Acc b = static_cast<Acc>(right);
  return static_cast<Out>({{expression}});
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  constexpr int kTile = BLOCK * VECTORS;
  const unsigned vectors = N / kVector;
  const Vector* left = reinterpret_cast<const Vector*>(A);
  const Vector* right = reinterpret_cast<const Vector*>(B);
  Vector* out = reinterpret_cast<Vector*>(C);
  for (unsigned first = blockIdx.x * kTile; first < vectors; first += gridDim.x * kTile) {
    Vector a[VECTORS], b[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const unsigned at = first + i * BLOCK + threadIdx.x;
      if (at < vectors) {
        a[i] = left[at];
        b[i] = right[at];
      }
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const unsigned at = first + i * BLOCK + threadIdx.x;
      if (at >= vectors) break;
#pragma unroll
      for (int e = 0; e < kVector; e++) a[i].element[e] = apply(a[i].element[e], b[i].element[e]);
      out[at] = a[i];
    }
  }
  // What does not fill a vector.
  const unsigned rest = vectors * kVector + threadIdx.x;
  if (blockIdx.x == 0 && rest < static_cast<unsigned>(N)) C[rest] = apply(A[rest], B[rest]);
}
