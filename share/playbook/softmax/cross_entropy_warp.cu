// LANES lanes of a warp a row: no barrier, no shared memory, several rows a block.
// @tune LANES 32 16 8
// @tune BLOCK 128 64 256
// @tune VECTORS 4 1 2 8
// @launch {{name}}<<<ceil_div(M, BLOCK / LANES), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kBatch = LANES * VECTORS * kVector;

// A thread's share of a row of `length` elements: VECTORS accesses of 16 bytes where rows begin at multiples of 16 bytes, single elements
// otherwise; neighbouring threads touch neighbouring addresses either way. Beyond the row's end it is `filler`.
__device__ __forceinline__ void load_share(Acc (&v)[VECTORS][kVector], const Element* row, int length, bool aligned, int thread,
                                           Acc filler) {
  if (aligned) {
    uint4 bits[VECTORS]; // all are asked for before the first is used
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const int at = (i * LANES + thread) * kVector;
      bits[i] = at < length ? *reinterpret_cast<const uint4*>(row + at) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      Element element[kVector];
      memcpy(element, &bits[i], sizeof element);
      const bool inside = (i * LANES + thread) * kVector < length;
#pragma unroll
      for (int j = 0; j < kVector; j++) v[i][j] = inside ? static_cast<Acc>(element[j]) : filler;
    }
  } else {
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
      for (int j = 0; j < kVector; j++) {
        const int at = (i * kVector + j) * LANES + thread;
        v[i][j] = at < length ? static_cast<Acc>(row[at]) : filler;
      }
  }
}

// Over the 1, 2, 4, ... or 32 neighbouring lanes a lane belongs to; all of them get the result.
template <int COUNT>
__device__ __forceinline__ Acc largest_of(Acc v) {
#pragma unroll
  for (int offset = COUNT / 2; offset > 0; offset /= 2) v = fmax(v, __shfl_xor_sync(0xffffffffu, v, offset));
  return v;
}

template <int COUNT>
__device__ __forceinline__ Acc sum_of(Acc v) {
#pragma unroll
  for (int offset = COUNT / 2; offset > 0; offset /= 2) v = v + __shfl_xor_sync(0xffffffffu, v, offset);
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

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int lane = threadIdx.x % LANES;
  const int row = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
  const int length = row < M ? N : 0; // behind the last row lanes only keep their neighbours company in the shuffles
  const bool aligned = N % kVector == 0;
  const Element* in = logits + static_cast<size_t>(row) * N;
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int first = 0; first < length; first += kBatch) {
    Acc v[VECTORS][kVector];
    load_share(v, in + first, length - first, aligned, lane, -static_cast<Acc>(INFINITY));
    take_batch(largest, sum, v);
  }
  const Acc top = largest_of<LANES>(largest);
  sum = sum_of<LANES>(sum > 0 ? sum * exp(largest - top) : 0);
  if (lane == 0 && row < M) loss[row] = static_cast<Out>(log(sum) + top - static_cast<Acc>(in[labels[row]]));
}
