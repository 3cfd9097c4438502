// Up to SPLIT blocks a row, for few long rows: one launch finds each part's maximum and sum, the next merges them, one warp a row.
// @tune SPLIT 32 4 8 16 64 128 256
// @tune BLOCK 256 128 512
// @tune VECTORS 4 1 2
// @scratch largests {{scratch}} [M * SPLIT]
// @scratch sums {{scratch}} [M * SPLIT]
// @launch {{name}}<<<M * min(SPLIT, ceil_div(N, 256)), BLOCK>>>(logits, largests, sums, N, min(SPLIT, ceil_div(N, 256)))
// @launch {{name}}_finish<<<ceil_div(M, 4), 128>>>(
//     logits, labels, largests, sums, loss, M, N, min(SPLIT, ceil_div(N, 256)))
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

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ logits, Acc* __restrict__ largests, Acc* __restrict__ sums, int N, int splits) {
  const bool aligned = N % kVector == 0;
  const Element* in = logits + static_cast<size_t>(blockIdx.x / splits) * N;
  // Parts of whole vectors, so that all begin aligned if the row does.
  const int part = (N + splits * kVector - 1) / (splits * kVector) * kVector;
  const int begin = blockIdx.x % splits * part, end = min(N, begin + part);
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

extern "C" __global__ void {{name}}_finish(
    const Element* __restrict__ logits, const int* __restrict__ labels, const Acc* __restrict__ largests, const Acc* __restrict__ sums,
    Out* __restrict__ loss, int M, int N, int splits) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= M) return;
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int part = lane; part < splits; part += 32) largest = fmax(largest, largests[row * splits + part]);
  largest = largest_of<32>(largest);
  for (int part = lane; part < splits; part += 32) sum += sums[row * splits + part] * exp(largests[row * splits + part] - largest);
  sum = sum_of<32>(sum);
  if (lane == 0) loss[row] = static_cast<Out>(log(sum) + largest - static_cast<Acc>(logits[static_cast<size_t>(row) * N + labels[row]]));
}
