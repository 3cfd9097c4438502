// LANES lanes of a warp a row, which stays in their registers: no barrier, no shared memory, several rows a block. What of a row the
// registers do not hold is read again.
// @tune LANES 32 16 8
// @tune BLOCK 128 64 256
// @tune VECTORS 4 1 2 8
// @launch {{name}}<<<ceil_div(M, BLOCK / LANES), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kHeld = LANES * VECTORS * kVector; // elements of a row in registers

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

__device__ __forceinline__ void store_share(Out* row, const Acc (&v)[VECTORS][kVector], int length, bool aligned, int thread) {
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    if (aligned) {
      Out element[kVector];
#pragma unroll
      for (int j = 0; j < kVector; j++) element[j] = static_cast<Out>(v[i][j]);
      uint4 bits;
      memcpy(&bits, element, sizeof bits);
      const int at = (i * LANES + thread) * kVector;
      if (at < length) *reinterpret_cast<uint4*>(row + at) = bits;
    } else {
#pragma unroll
      for (int j = 0; j < kVector; j++) {
        const int at = (i * kVector + j) * LANES + thread;
        if (at < length) row[at] = static_cast<Out>(v[i][j]);
      }
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

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int lane = threadIdx.x % LANES;
  const int row = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
  const int length = row < M ? N : 0; // behind the last row lanes only keep their neighbours company in the shuffles
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(row) * N;
  Out* out = y + static_cast<size_t>(row) * N;
  Acc v[VECTORS][kVector];
  load_share(v, in, length, aligned, lane, -static_cast<Acc>(INFINITY));

  Acc largest = -static_cast<Acc>(INFINITY);
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) largest = fmax(largest, v[i][j]);
  for (int i = kHeld + lane; i < length; i += LANES) largest = fmax(largest, static_cast<Acc>(in[i]));
  largest = largest_of<LANES>(largest);

  Acc sum = 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) {
{{if log_softmax}}
      sum += exp(v[i][j] - largest);
{{else}}
      v[i][j] = exp(v[i][j] - largest);
      sum += v[i][j];
{{end}}
    }
  for (int i = kHeld + lane; i < length; i += LANES) sum += exp(static_cast<Acc>(in[i]) - largest);
{{if log_softmax}}
  const Acc log_sum = log(sum_of<LANES>(sum));
{{else}}
  const Acc scale = 1 / sum_of<LANES>(sum);
{{end}}
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
{{if log_softmax}}
    for (int j = 0; j < kVector; j++) v[i][j] = v[i][j] - largest - log_sum;
{{else}}
    for (int j = 0; j < kVector; j++) v[i][j] *= scale;
{{end}}
  store_share(out, v, length, aligned, lane);
{{if log_softmax}}
  for (int i = kHeld + lane; i < length; i += LANES) out[i] = static_cast<Out>(static_cast<Acc>(in[i]) - largest - log_sum);
{{else}}
  for (int i = kHeld + lane; i < length; i += LANES) out[i] = static_cast<Out>(exp(static_cast<Acc>(in[i]) - largest) * scale);
{{end}}
}
