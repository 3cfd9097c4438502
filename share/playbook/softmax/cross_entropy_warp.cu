// LANES lanes of a warp a row: no barrier, no shared memory, several rows a block.
// @tune LANES 32 16 8
// @tune BLOCK 128 64 256
// @tune VECTORS 4 1 2 8
// @launch {{name}}<<<ceil_div(M, BLOCK / LANES), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kBatch = LANES * VECTORS * kVector;

{{include parts/load_share_of_lanes.cu}}

{{include parts/largest_of_count.cu}}

{{include parts/sum_of_count.cu}}

{{include parts/take_batch.cu}}

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
