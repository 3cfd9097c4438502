// Up to SPLIT blocks a row, for few long ones: one launch finds the sum of squares of each part, the next merges
// them and writes the parts.
// @tune SPLIT 32 4 8 16 64 128 256
// @tune BLOCK 256 128 512
// @tune VECTORS 2 1 4
// @scratch squares {{scratch}} [M * SPLIT]
// @launch {{name}}<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(
//     x, squares, N, min(SPLIT, ceil_div(N, 256)))
// @launch {{name}}_write<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(
//     x, gamma, squares, y, N, eps, min(SPLIT, ceil_div(N, 256)))
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;
constexpr int kBatch = BLOCK * VECTORS * kVector;

// Where element j of access i lies in a row: whole vectors where rows begin at multiples of 16 bytes, single elements otherwise.
// Neighbouring threads touch neighbouring addresses either way.
__device__ __forceinline__ int position(int i, int j, bool aligned, int thread) {
  return aligned ? (i * BLOCK + thread) * kVector + j : (i * kVector + j) * BLOCK + thread;
}

// A thread's share of a row: VECTORS accesses of 16 bytes, or as many single elements. Beyond the row's end it is 0.
__device__ __forceinline__ void load_share(Acc (&v)[VECTORS][kVector], const Element* row, int length, bool aligned, int thread) {
  if (aligned) {
    uint4 bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const int at = position(i, 0, true, thread);
      bits[i] = at < length ? *reinterpret_cast<const uint4*>(row + at) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      Element element[kVector];
      memcpy(element, &bits[i], sizeof element);
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] = static_cast<Acc>(element[j]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) {
        const int at = position(i, j, false, thread);
        v[i][j] = at < length ? static_cast<Acc>(row[at]) : 0;
      }
  }
}

__device__ __forceinline__ void store_share(Out* row, const Acc (&v)[VECTORS][kVector], int length, bool aligned, int thread) {
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    if (aligned) {
      Out element[kVector];
#pragma unroll
      for (int j = 0; j < kVector; j++) element[j] = static_cast<Out>(v[i][j]);
      uint4 bits;
      memcpy(&bits, element, sizeof bits);
      const int at = position(i, 0, true, thread);
      if (at < length) *reinterpret_cast<uint4*>(row + at) = bits;
    } else {
#pragma unroll
      for (int j = 0; j < kVector; j++) {
        const int at = position(i, j, false, thread);
        if (at < length) row[at] = static_cast<Out>(v[i][j]);
      }
    }
  }
}

// Over the 1, 2, 4, ... or 32 neighbouring lanes a lane belongs to; all of them get the result.
template <int LANES>
__device__ __forceinline__ Acc sum_of(Acc v) {
#pragma unroll
  for (int offset = LANES / 2; offset > 0; offset /= 2) v = v + __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

// Over the block, known to all its threads. `parts` is used once, so that one barrier is enough.
__device__ __forceinline__ Acc block_sum(Acc v, Acc (&parts)[kWarps]) {
  v = sum_of<32>(v);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  return sum_of<kWarps>(parts[threadIdx.x % kWarps]);
}

// Elements a block takes: whole vectors, so that all parts begin aligned if the row does.
__device__ __forceinline__ int part_length(int length, int splits) {
  return (length + splits * kVector - 1) / (splits * kVector) * kVector;
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ x, Acc* __restrict__ squares, int N, int splits) {
  __shared__ Acc parts[kWarps];
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x / splits) * N;
  const int begin = blockIdx.x % splits * part_length(N, splits), end = min(N, begin + part_length(N, splits));
  Acc sum = 0;
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) sum += v[i][j] * v[i][j];
  }
  sum = block_sum(sum, parts);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}_write(
    const Element* __restrict__ x, const Element* __restrict__ gamma,
    const Acc* __restrict__ squares, Out* __restrict__ y, int N, Acc eps,
    int splits) {
  const int row = blockIdx.x / splits;
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(row) * N;
  Out* out = y + static_cast<size_t>(row) * N;
  // Every warp adds up the parts for itself.
  Acc sum = 0;
  for (int part = threadIdx.x % 32; part < splits; part += 32) sum += squares[row * splits + part];
  const Acc scale = 1 / sqrt(sum_of<32>(sum) / N + eps);
  const int begin = blockIdx.x % splits * part_length(N, splits), end = min(N, begin + part_length(N, splits));
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x);
    Acc factor[VECTORS][kVector];
    load_share(factor, gamma + first, end - first, aligned, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] *= scale * factor[i][j];
    store_share(out + first, v, end - first, aligned, threadIdx.x);
  }
}
