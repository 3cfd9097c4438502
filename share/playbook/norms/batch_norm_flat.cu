// All elements in one line, whatever planes they belong to: for planes too small for a block. A thread takes VECTORS accesses of 16 bytes;
// where a plane is a whole number of vectors, one division finds the channel of each.
// @tune BLOCK 256 128 512
// @tune VECTORS 2 1 4
// @launch {{name}}<<<ceil_div(N * C * HW, BLOCK * VECTORS * {{vector}}), BLOCK>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const long long count = static_cast<long long>(N) * C * HW;
  const long long first = (static_cast<long long>(blockIdx.x) * VECTORS * BLOCK + threadIdx.x) * kVector;
  const bool whole = HW % kVector == 0; // a vector lies in one plane
  uint4 bits[VECTORS];
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const long long at = first + i * BLOCK * kVector;
    if (at + kVector <= count) bits[i] = *reinterpret_cast<const uint4*>(x + at);
  }
#pragma unroll
  for (int i = 0; i < VECTORS; i++) {
    const long long at = first + i * BLOCK * kVector;
    Element element[kVector];
    if (at + kVector <= count) memcpy(element, &bits[i], sizeof element);
    // 32 bits divide several times faster than 64, and almost always hold the position.
    long long plane = count <= 0x7fffffff ? static_cast<int>(at) / HW : at / HW;
    int pixel = static_cast<int>(at - plane * HW), channel = plane % C;
    Acc centre = 0, shift = 0, scale = 0;
#pragma unroll
    for (int j = 0; j < kVector; j++) {
      if (at + j < count) {
        if (j == 0 || !whole) {
          centre = static_cast<Acc>(mean[channel]);
          shift = static_cast<Acc>(beta[channel]);
          scale = static_cast<Acc>(gamma[channel]) / sqrt(static_cast<Acc>(var[channel]) + eps);
        }
        if (at + kVector <= count)
          element[j] = static_cast<Element>((static_cast<Acc>(element[j]) - centre) * scale + shift);
        else // the last few elements, which do not fill a vector
          y[at + j] = static_cast<Out>((static_cast<Acc>(x[at + j]) - centre) * scale + shift);
      }
      if (!whole && ++pixel == HW) {
        pixel = 0;
        if (++channel == C) channel = 0;
      }
    }
    if (at + kVector <= count) {
      memcpy(&bits[i], element, sizeof element);
      *reinterpret_cast<uint4*>(y + at) = bits[i];
    }
  }
}
