// One block a row, which is read from memory once and kept in registers. Every warp exponentiates relative to its own maximum, so that one
// barrier is enough to bring the warps together. What of a long row the registers do not hold is read again.
// @tune BLOCK 256 64 128 512 1024
{{if float32}}
// @tune VECTORS 4 1 2 8
{{end}}
{{if half}}
// @tune VECTORS 2 1 4
{{end}}
{{if float64}}
// @tune VECTORS 8 1 2 4
{{end}}
// @launch {{name}}<<<M, BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;
constexpr int kHeld = BLOCK * VECTORS * kVector; // elements of a row in registers

{{include parts/load_share.cu}}

{{include parts/store_share.cu}}

{{include parts/largest_of.cu}}

{{include parts/sum_of.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Acc part_largest[kWarps], part_sum[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool aligned = N % kVector == 0;
  const Element* in = x + static_cast<size_t>(blockIdx.x) * N;
  Out* out = y + static_cast<size_t>(blockIdx.x) * N;
  Acc v[VECTORS][kVector];
  load_share(v, in, N, aligned, threadIdx.x, -static_cast<Acc>(INFINITY));

  Acc largest = -static_cast<Acc>(INFINITY);
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) largest = fmax(largest, v[i][j]);
  for (int i = kHeld + threadIdx.x; i < N; i += BLOCK) largest = fmax(largest, static_cast<Acc>(in[i]));
  largest = largest_of<32>(largest);

  const Acc base = largest > -static_cast<Acc>(INFINITY) ? largest : 0; // a warp behind the row's end has no maximum
  Acc sum = 0;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) {
{{if log_softmax}}
      sum += exp(v[i][j] - base);
{{else}}
      v[i][j] = exp(v[i][j] - base);
      sum += v[i][j];
{{end}}
    }
  for (int i = kHeld + threadIdx.x; i < N; i += BLOCK) sum += exp(static_cast<Acc>(in[i]) - base);
  sum = sum_of<32>(sum);
  if (lane == 0) {
    part_largest[warp] = largest;
    part_sum[warp] = sum;
  }
  __syncthreads();

  // Every warp merges all parts for itself, which needs no second barrier.
  const Acc part = part_largest[lane % kWarps];
  const Acc top = largest_of<kWarps>(part);
  const Acc total = sum_of<kWarps>(part_sum[lane % kWarps] * exp(part - top));
{{if log_softmax}}
  const Acc log_total = log(total);
{{else}}
  const Acc scale = exp(base - top) / total;
{{end}}
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
{{if log_softmax}}
    for (int j = 0; j < kVector; j++) v[i][j] = v[i][j] - top - log_total;
{{else}}
    for (int j = 0; j < kVector; j++) v[i][j] *= scale;
{{end}}
  store_share(out, v, N, aligned, threadIdx.x);
{{if log_softmax}}
  for (int i = kHeld + threadIdx.x; i < N; i += BLOCK) out[i] = static_cast<Out>(static_cast<Acc>(in[i]) - top - log_total);
{{else}}
  for (int i = kHeld + threadIdx.x; i < N; i += BLOCK) out[i] = static_cast<Out>(exp(static_cast<Acc>(in[i]) - base) * scale);
{{end}}
}
