// One block a row. Each thread keeps a running maximum and the sum of exponentials relative to it; pairs are merged across the block.
// @tune BLOCK 128 64 256 512 1024
// @launch {{name}}<<<M, BLOCK>>>({{arguments}})
{{types}}
extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Acc part_largest[32], part_sum[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Element* in = x + static_cast<size_t>(blockIdx.x) * N;
  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for (int i = threadIdx.x; i < N; i += BLOCK) {
    const Acc v = static_cast<Acc>(in[i]);
    const Acc top = fmax(largest, v);
    sum = sum * exp(largest - top) + exp(v - top);
    largest = top;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const Acc other = __shfl_xor_sync(0xffffffffu, largest, offset);
    const Acc other_sum = __shfl_xor_sync(0xffffffffu, sum, offset);
    const Acc top = fmax(largest, other);
    sum = (sum > 0 ? sum * exp(largest - top) : 0) + (other_sum > 0 ? other_sum * exp(other - top) : 0);
    largest = top;
  }
  if (lane == 0) {
    part_largest[warp] = largest;
    part_sum[warp] = sum;
  }
  __syncthreads();
  largest = part_largest[0];
  for (int w = 1; w < BLOCK / 32; w++) largest = fmax(largest, part_largest[w]);
  sum = 0;
  for (int w = 0; w < BLOCK / 32; w++)
    if (part_sum[w] > 0) sum += part_sum[w] * exp(part_largest[w] - largest);
  const Acc scale = 1 / sum;
  Out* out = y + static_cast<size_t>(blockIdx.x) * N;
  for (int i = threadIdx.x; i < N; i += BLOCK)
    out[i] = static_cast<Out>(exp(static_cast<Acc>(in[i]) - largest) * scale);
}
