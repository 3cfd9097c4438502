// The SIMD video instructions on one lane: two halves or four bytes of a register side by side.
#pragma once

#include <cstdint>

namespace kernevo::vgpu::semantics {

enum class VideoOperation : std::uint8_t {
  add,
  sub,
  average,
  absolute_difference,
  minimum,
  maximum,
  eq,
  ne,
  lt,
  le,
  gt,
  ge, // vset: 1 or 0
};

struct VideoMode {
  VideoOperation operation = VideoOperation::add;
  int elements = 4;
  bool signed_result = false;
  bool signed_a = false;
  bool signed_b = false;
  bool saturate = false;
  bool accumulate = false; // the elements' results are summed into c
};

constexpr std::int32_t video_element(std::uint32_t word, int bits, int index, bool is_signed) {
  const std::uint32_t top = word << (32 - bits * (index + 1));
  return is_signed ? static_cast<std::int32_t>(top) >> (32 - bits)
                   : static_cast<std::int32_t>(top >> (32 - bits));
}

constexpr std::int32_t video_scalar(VideoOperation operation, std::int32_t a, std::int32_t b) {
  switch (operation) {
  case VideoOperation::add: return a + b;
  case VideoOperation::sub: return a - b;
  case VideoOperation::average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
  case VideoOperation::absolute_difference: return a < b ? b - a : a - b;
  case VideoOperation::minimum: return a < b ? a : b;
  case VideoOperation::maximum: return a < b ? b : a;
  case VideoOperation::eq: return a == b;
  case VideoOperation::ne: return a != b;
  case VideoOperation::lt: return a < b;
  case VideoOperation::le: return a <= b;
  case VideoOperation::gt: return a > b;
  case VideoOperation::ge: return a >= b;
  }
  return 0;
}

constexpr std::uint32_t video(const VideoMode& mode, std::uint32_t a, std::uint32_t b,
                              std::uint32_t c) {
  const int bits = 32 / mode.elements;
  const std::uint32_t mask = (1U << bits) - 1;
  const std::int32_t low = mode.signed_result ? -(1 << (bits - 1)) : 0;
  const std::int32_t high = static_cast<std::int32_t>(mode.signed_result ? mask >> 1 : mask);
  std::uint32_t packed = 0;
  for (int i = 0; i < mode.elements; ++i) {
    std::int32_t value = video_scalar(mode.operation, video_element(a, bits, i, mode.signed_a),
                                      video_element(b, bits, i, mode.signed_b));
    if (mode.saturate)
      value = value < low ? low : value > high ? high : value;
    c += static_cast<std::uint32_t>(value);
    packed |= (static_cast<std::uint32_t>(value) & mask) << (bits * i);
  }
  return mode.accumulate ? c : packed;
}

} // namespace kernevo::vgpu::semantics
