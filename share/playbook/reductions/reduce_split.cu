// Up to SPLIT blocks an element of y, for few long axes: one launch reduces the parts, the next merges them, one warp an element.
// @tune SPLIT 64 8 16 32 128 256
// @tune BLOCK 256 128 512
{{if int8}}
// @tune VECTORS 1 2 4
{{else}}
// @tune VECTORS 2 1 4
{{end}}
// @scratch parts {{scratch}} [OUTER * INNER * SPLIT]
// @launch {{name}}<<<OUTER * INNER * min(SPLIT, ceil_div(R, 256)), BLOCK>>>(x, parts, R, INNER, min(SPLIT, ceil_div(R, 256)))
// @launch {{name}}_finish<<<ceil_div(OUTER * INNER, 4), 128>>>(parts, y, OUTER * INNER, R, min(SPLIT, ceil_div(R, 256)))
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;

{{include parts/value_part.cu}}

{{include parts/merge_lanes.cu}}

__device__ __forceinline__ Out result(Part a, int R) { return static_cast<Out>({{result}}); }

{{include parts/share_of.cu}}

{{include parts/merge_block.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    const Element* __restrict__ x, Acc* __restrict__ parts, int R, int INNER, int splits) {
  const int at = blockIdx.x / splits;
  const Element* line = x + static_cast<size_t>(at / INNER) * R * INNER + at % INNER;
  const bool aligned = INNER == 1 && R % kVector == 0;
  // Parts of whole vectors begin aligned if the axis does.
  const int length = (R + splits * kVector - 1) / (splits * kVector) * kVector;
  const int begin = blockIdx.x % splits * length;
  const Part part = merge_block(share_of(line, begin, min(R, begin + length), INNER, aligned, threadIdx.x));
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
}

extern "C" __global__ void {{name}}_finish(
    const Acc* __restrict__ parts, Out* __restrict__ y, int count, int R, int splits) {
  const int at = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (at >= count) return;
  Part part = nothing();
  for (int i = lane; i < splits; i += 32) part = merge(part, parts[at * splits + i]);
  part = merge_lanes<32>(part);
  if (lane == 0) y[at] = result(part, R);
}
