// LANES lanes of a warp a row, which stays in their registers: no barrier, no shared memory, several rows a block. What of a row the
// registers do not hold is read again.
// @tune LANES 32 16 8
// @tune BLOCK 128 64 256
// @tune VECTORS 4 1 2 8
// @launch {{name}}<<<ceil_div(M, BLOCK / LANES), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kHeld = LANES * VECTORS * kVector; // elements of a row in registers

{{include parts/load_share_of_lanes.cu}}

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

{{include parts/largest_of_count.cu}}

{{include parts/sum_of_count.cu}}

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
