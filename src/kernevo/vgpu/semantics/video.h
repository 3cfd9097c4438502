// The video instructions on one lane. SIMD ones work on two halves or four bytes of a register side
// by side, scalar ones on one selected part of each operand.
#pragma once

#include <array>
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
  // Which element of a, then of b, stands in for each element of the operands.
  std::array<std::uint8_t, 4> select_a = {0, 1, 2, 3};
  std::array<std::uint8_t, 4> select_b = {4, 5, 6, 7};
  std::uint32_t written = 0xF; // elements of the result; the others come from c
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
  std::uint32_t sum = c;
  const std::int32_t low = mode.signed_result ? -(1 << (bits - 1)) : 0;
  const std::int32_t high = static_cast<std::int32_t>(mode.signed_result ? mask >> 1 : mask);
  auto pick = [&](int index, bool is_signed) {
    return index < mode.elements ? video_element(a, bits, index, is_signed)
                                 : video_element(b, bits, index - mode.elements, is_signed);
  };
  std::uint32_t packed = 0;
  for (int i = 0; i < mode.elements; ++i) {
    if ((mode.written >> i & 1U) == 0) {
      packed |= c & mask << (bits * i);
      continue;
    }
    const auto element = static_cast<std::size_t>(i);
    std::int32_t value = video_scalar(mode.operation, pick(mode.select_a[element], mode.signed_a),
                                      pick(mode.select_b[element], mode.signed_b));
    if (mode.saturate)
      value = value < low ? low : value > high ? high : value;
    sum += static_cast<std::uint32_t>(value);
    packed |= (static_cast<std::uint32_t>(value) & mask) << (bits * i);
  }
  return mode.accumulate ? sum : packed;
}

// A byte (b0 to b3), a half (h0, h1) or the whole of a word.
struct VideoPart {
  int bits = 32;
  int index = 0;
};

constexpr std::int64_t video_part(std::uint32_t word, const VideoPart& part, bool is_signed) {
  const std::uint32_t top = word << (32 - part.bits * (part.index + 1));
  return is_signed ? std::int64_t{static_cast<std::int32_t>(top) >> (32 - part.bits)}
                   : std::int64_t{top >> (32 - part.bits)};
}

enum class ScalarVideoOperation : std::uint8_t {
  add,
  sub,
  absolute_difference,
  minimum,
  maximum,
  shift_left,
  shift_right,
  multiply_add,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
};
enum class VideoSecond : std::uint8_t { none, merge, add, minimum, maximum };

struct ScalarVideoMode {
  ScalarVideoOperation operation = ScalarVideoOperation::add;
  VideoPart a;
  VideoPart b;
  VideoPart d;
  bool signed_a = false;
  bool signed_b = false;
  bool signed_result = false;
  bool saturate = false;
  bool wrap = false; // shifts: modulo 32, else at most 32
  bool plus_one = false;
  int scale = 0; // vmad: bits shifted out
  VideoSecond second = VideoSecond::none;
};

constexpr std::int64_t scalar_video_first(const ScalarVideoMode& mode, std::int64_t a,
                                          std::int64_t b, std::uint32_t c) {
  using Operation = ScalarVideoOperation;
  const std::int64_t shift = mode.wrap ? b & 31 : b < 32 ? b : 32;
  switch (mode.operation) {
  case Operation::add: return a + b;
  case Operation::sub: return a - b;
  case Operation::absolute_difference: return a < b ? b - a : a - b;
  case Operation::minimum: return a < b ? a : b;
  case Operation::maximum: return a < b ? b : a;
  case Operation::shift_left:
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << shift);
  case Operation::shift_right: return a >> shift;
  case Operation::multiply_add: {
    // Only the product of two unsigned words needs more than 63 bits; it wraps as its sum would.
    const bool is_signed = mode.signed_a || mode.signed_b;
    const std::int64_t addend = is_signed ? std::int64_t{static_cast<std::int32_t>(c)} : c;
    const std::uint64_t sum = static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b) +
                              static_cast<std::uint64_t>(addend) + (mode.plus_one ? 1 : 0);
    return is_signed ? static_cast<std::int64_t>(sum) >> mode.scale
                     : static_cast<std::int64_t>(sum >> mode.scale);
  }
  case Operation::eq: return a == b ? 1 : 0;
  case Operation::ne: return a != b ? 1 : 0;
  case Operation::lt: return a < b ? 1 : 0;
  case Operation::le: return a <= b ? 1 : 0;
  case Operation::gt: return a > b ? 1 : 0;
  case Operation::ge: return a >= b ? 1 : 0;
  }
  return 0;
}

// To the range of the selected part of the result.
constexpr std::int64_t video_saturate(const ScalarVideoMode& mode, std::int64_t value) {
  const bool product = mode.operation == ScalarVideoOperation::multiply_add;
  const bool is_signed = product ? mode.signed_a || mode.signed_b : mode.signed_result;
  const int bits = product ? 32 : mode.d.bits;
  const std::int64_t high = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const std::int64_t low = is_signed ? -high - 1 : 0;
  // An unsigned product beyond 63 bits looks negative.
  if (product && !is_signed && value < 0)
    return high;
  return value < low ? low : value > high ? high : value;
}

constexpr std::uint32_t scalar_video(const ScalarVideoMode& mode, std::uint32_t a, std::uint32_t b,
                                     std::uint32_t c) {
  std::int64_t first = scalar_video_first(mode, video_part(a, mode.a, mode.signed_a),
                                          video_part(b, mode.b, mode.signed_b), c);
  if (mode.saturate)
    first = video_saturate(mode, first);
  const auto value = static_cast<std::uint32_t>(first);
  auto smaller = [&](std::uint32_t x, std::uint32_t y) {
    return mode.signed_result ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y;
  };
  switch (mode.second) {
  case VideoSecond::none: return value;
  case VideoSecond::add: return value + c;
  case VideoSecond::minimum: return smaller(value, c) ? value : c;
  case VideoSecond::maximum: return smaller(value, c) ? c : value;
  case VideoSecond::merge: break;
  }
  if (mode.d.bits == 32)
    return value;
  const std::uint32_t mask = ((1U << mode.d.bits) - 1) << (mode.d.bits * mode.d.index);
  return (c & ~mask) | (value << (mode.d.bits * mode.d.index) & mask);
}

} // namespace kernevo::vgpu::semantics
