// Up to SPLIT blocks a row, for few long rows: one launch finds each part's maximum and sum, the next merges them and writes the parts.
// @tune SPLIT 32 4 8 16 64 128 256
// @tune BLOCK 256 128 512
// @tune VECTORS 2 1 4
// @scratch largests {{scratch}} [M * SPLIT]
// @scratch sums {{scratch}} [M * SPLIT]
// @launch {{name}}<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(x, largests, sums, N, min(SPLIT, ceil_div(N, 256)))
// @launch {{name}}_write<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(x, largests, sums, y, N, min(SPLIT, ceil_div(N, 256)))
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;
constexpr int kBatch = BLOCK * VECTORS * kVector;

// A thread's share of a row of `length` elements: VECTORS accesses of 16 bytes where rows begin at multiples of 16 bytes, single elements
// otherwise; neighbouring threads touch neighbouring addresses either way. Beyond the row's end it is `filler`.
__device__ __forceinline__ void load_share(Acc (&v)[VECTORS][kVector], const Element* row, int length, bool aligned, int thread,
                                           Acc filler) {
  if (aligned) {
    uint4 bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const int at = (i * BLOCK + thread) * kVector;
      bits[i] = at < length ? *reinterpret_cast<const uint4*>(row + at) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      Element element[kVector];
      memcpy(element, &bits[i], sizeof element);
      const bool inside = (i * BLOCK + thread) * kVector < length;
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] = inside ? static_cast<Acc>(element[j]) : filler;
    }
  } else {
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) {
        const int at = (i * kVector + j) * BLOCK + thread;
        v[i][j] = at < length ? static_cast<Acc>(row[at]) : filler;
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
      const int at = (i * BLOCK + thread) * kVector;
      if (at < length) *reinterpret_cast<uint4*>(row + at) = bits;
    } else {
#pragma unroll
      for (int j = 0; j < kVector; j++) {
        const int at = (i * kVector + j) * BLOCK + thread;
        if (at < length) row[at] = static_cast<Out>(v[i][j]);
      }
    }
  }
}

// Over the 1, 2, 4, ... or 32 neighbouring lanes a lane belongs to; all of them get the result.
template <int LANES>
__device__ __forceinline__ Acc largest_of(Acc v) {
#pragma unroll
  for (int offset = LANES / 2; offset > 0; offset /= 2) v = fmax(v, __shfl_xor_sync(0xffffffffu, v, offset));
  return v;
}

template <int LANES>
__device__ __forceinline__ Acc sum_of(Acc v) {
#pragma unroll
  for (int offset = LANES / 2; offset > 0; offset /= 2) v = v + __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

// Takes a batch into the running maximum and the sum of exponentials relative to it. The old sum is rescaled once a batch, not once an
// element.
__device__ __forceinline__ void take_batch(Acc& largest, Acc& sum, const Acc (&v)[VECTORS][kVector]) {
  Acc top = largest;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) top = fmax(top, v[i][j]);
  if (top == -static_cast<Acc>(INFINITY)) return; // nothing yet
  sum *= exp(largest - top);
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) sum += exp(v[i][j] - top);
  largest = top;
}

// The threads' pairs as one pair for the whole block, known to all its threads.
__device__ __forceinline__ void merge_block(Acc& largest, Acc& sum) {
  __shared__ Acc part_largest[kWarps], part_sum[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Acc warp_largest = largest_of<32>(largest);
  const Acc warp_sum = sum_of<32>(sum > 0 ? sum * exp(largest - warp_largest) : 0);
  if (lane == 0) {
    part_largest[warp] = warp_largest;
    part_sum[warp] = warp_sum;
  }
  __syncthreads();
  const Acc part = part_largest[lane % kWarps];
  largest = largest_of<kWarps>(part);
  sum = sum_of<kWarps>(part_sum[lane % kWarps] * exp(part - largest));
}

// Elements of a row a block takes: whole vectors, so that all parts begin aligned if the row does.
__device__ __forceinline__ int part_length(int N, int splits) {
  return (N + splits * kVector - 1) / (splits * kVector) * kVector;
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ x, Acc* __restrict__ largests, Acc* __restrict__ sums, int N, int splits) {
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x / splits) * N;
  const int begin = blockIdx.x % splits * part_length(N, splits), end = min(N, begin + part_length(N, splits));
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x, -static_cast<Acc>(INFINITY));
    take_batch(largest, sum, v);
  }
  if (begin < end) merge_block(largest, sum);
  if (threadIdx.x == 0) {
    largests[blockIdx.x] = largest;
    sums[blockIdx.x] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}_write(
    const Element* __restrict__ x, const Acc* __restrict__ largests, const Acc* __restrict__ sums, Out* __restrict__ y, int N,
    int splits) {
  const bool aligned = N % kVector == 0;
  const int row = blockIdx.x / splits;
  const Element* in = x + static_cast<size_t>(row) * N;
  Out* out = y + static_cast<size_t>(row) * N;
  // Every warp merges the row's parts for itself; a part behind the row's end has the sum 0.
  const int lane = threadIdx.x % 32;
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int part = lane; part < splits; part += 32) largest = fmax(largest, largests[row * splits + part]);
  largest = largest_of<32>(largest);
  for (int part = lane; part < splits; part += 32) sum += sums[row * splits + part] * exp(largests[row * splits + part] - largest);
  sum = sum_of<32>(sum);
{{if log_softmax}}
  const Acc log_sum = log(sum);
{{else}}
  const Acc scale = 1 / sum;
{{end}}
  const int begin = blockIdx.x % splits * part_length(N, splits), end = min(N, begin + part_length(N, splits));
  for (int first = begin; first < end; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, end - first, aligned, threadIdx.x, 0);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
{{if log_softmax}}
      for (int j = 0; j < kVector; j++) v[i][j] = v[i][j] - largest - log_sum;
{{else}}
      for (int j = 0; j < kVector; j++) v[i][j] = exp(v[i][j] - largest) * scale;
{{end}}
    store_share(out + first, v, end - first, aligned, threadIdx.x);
  }
}
