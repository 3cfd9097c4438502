// The matrix as one long row of 16-byte vectors, several in flight per thread. The bias comes from L1 and L2, by vectors where
// rows are whole vectors.
// @tune BLOCK 256 128 512 1024
// @tune VECTORS 2 1 4 8
// @launch {{name}}<<<ceil_div(M * N, BLOCK * VECTORS * {{vector}}), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in 16 bytes

struct alignas(16) Vector {
  Element element[kVector];
};

__device__ __forceinline__ Out apply(Element value, Element shift) {
  const Acc v = static_cast<Acc>(value) + static_cast<Acc>(shift);
  return static_cast<Out>({{expression}});
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const unsigned long long total = static_cast<unsigned long long>(M) * N;
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * (BLOCK * VECTORS * kVector);
  // One long division per thread; columns further on in the tile need a short one.
  const unsigned first_column = first % N;
  const bool aligned = N % kVector == 0;
  Vector part[VECTORS], shift[VECTORS];
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const unsigned offset = (i * BLOCK + threadIdx.x) * kVector;
    if (first + offset + kVector > total) break;
    part[i] = *reinterpret_cast<const Vector*>(x + first + offset);
    unsigned column = (first_column + offset) % N;
    if (aligned) {
      shift[i] = *reinterpret_cast<const Vector*>(bias + column);
    } else {
#pragma unroll
      for (int e = 0; e < kVector; e++) {
        shift[i].element[e] = bias[column];
        if (++column == N) column = 0;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const unsigned offset = (i * BLOCK + threadIdx.x) * kVector;
    if (first + offset + kVector > total) break;
#pragma unroll
    for (int e = 0; e < kVector; e++) part[i].element[e] = apply(part[i].element[e], shift[i].element[e]);
    *reinterpret_cast<Vector*>(y + first + offset) = part[i];
  }
  // What does not fill a vector.
  const unsigned long long rest = total / kVector * kVector + threadIdx.x;
  if (blockIdx.x == 0 && rest < total) y[rest] = apply(x[rest], bias[rest % N]);
}
