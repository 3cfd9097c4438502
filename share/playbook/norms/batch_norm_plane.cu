// A plane of pixels (one channel of one sample) is cut into equal parts, one a block; the channel's scale and shift are found once a thread
// and then applied to VECTORS accesses of 16 bytes, which are all asked for before the first is used.
// @tune BLOCK 128 64 256 512
// @tune VECTORS 4 1 2 8
// @launch {{name}}<<<N * C * ceil_div(HW, BLOCK * VECTORS * {{vector}}), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kMost = BLOCK * VECTORS * kVector; // pixels of a block

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int parts = (HW + kMost - 1) / kMost;
  const int part = (HW + parts * kVector - 1) / (parts * kVector) * kVector; // equal parts, of whole vectors
  const int plane = blockIdx.x / parts, channel = plane % C;
  const int begin = blockIdx.x % parts * part, end = min(HW, begin + part);
  const Element* in = x + static_cast<size_t>(plane) * HW;
  Out* out = y + static_cast<size_t>(plane) * HW;
  const Acc centre = static_cast<Acc>(mean[channel]), shift = static_cast<Acc>(beta[channel]);
  const Acc scale = static_cast<Acc>(gamma[channel]) / sqrt(static_cast<Acc>(var[channel]) + eps);
  if (HW % kVector == 0) {
    uint4 bits[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const int at = begin + (i * BLOCK + threadIdx.x) * kVector;
      if (at < end) bits[i] = *reinterpret_cast<const uint4*>(in + at);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
      const int at = begin + (i * BLOCK + threadIdx.x) * kVector;
      Element element[kVector];
      memcpy(element, &bits[i], sizeof element);
#pragma unroll
      for (int j = 0; j < kVector; j++) element[j] = static_cast<Element>((static_cast<Acc>(element[j]) - centre) * scale + shift);
      memcpy(&bits[i], element, sizeof element);
      if (at < end) *reinterpret_cast<uint4*>(out + at) = bits[i];
    }
  } else {
    // Planes begin anywhere: single elements, neighbours side by side.
#pragma unroll 4
    for (int at = begin + threadIdx.x; at < end; at += BLOCK)
      out[at] = static_cast<Out>((static_cast<Acc>(in[at]) - centre) * scale + shift);
  }
}
