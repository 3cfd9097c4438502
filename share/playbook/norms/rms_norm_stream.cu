// One block a row of any length, in batches of VECTORS accesses of 16 bytes a thread. The first pass
// adds up squares; the second finds the row in L1 or L2.
// @tune BLOCK 256 128 512 1024
// @tune VECTORS 2 1 4
// @launch {{name}}<<<M, BLOCK>>>({{arguments}})
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

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Acc parts[kWarps];
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x) * N;
  Out* out = y + static_cast<size_t>(blockIdx.x) * N;
  Acc sum = 0;
  for (int first = 0; first < N; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, N - first, aligned, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) sum += v[i][j] * v[i][j];
  }
  const Acc scale = 1 / sqrt(block_sum(sum, parts) / N + eps);
  for (int first = 0; first < N; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, N - first, aligned, threadIdx.x);
    Acc factor[VECTORS][kVector];
    load_share(factor, gamma + first, N - first, aligned, threadIdx.x);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] *= scale * factor[i][j];
    store_share(out + first, v, N - first, aligned, threadIdx.x);
  }
}
