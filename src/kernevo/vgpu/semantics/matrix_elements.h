// The element formats of matrix fragments: how many a register packs and what number each is.
// `Value` is the type the product is computed in: double holds every product of two small floats
// exactly.
#pragma once

#include "kernevo/base/small_floats.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace kernevo::vgpu {

namespace matrix {

// An 8-bit float. e5m2 is the upper half of f16; e4m3 has no infinity and one NaN per sign.
constexpr double decode_e5m2(std::uint32_t bits) {
  return half_to_float(static_cast<std::uint16_t>(bits << 8U));
}
constexpr double decode_e4m3(std::uint32_t bits) {
  const std::uint32_t exponent = (bits >> 3U) & 0xFU;
  const std::uint32_t mantissa = bits & 7U;
  double magnitude = 0;
  if (exponent == 0xF && mantissa == 7)
    magnitude = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    magnitude = mantissa * 0x1p-9;
  else // (8 + mantissa) * 2^(exponent - 10), the power built from its bits
    magnitude =
        (8 + mantissa) * std::bit_cast<double>((std::uint64_t{1023} + exponent - 10) << 52U);
  return (bits & 0x80U) != 0 ? -magnitude : magnitude;
}
// The tensor core reads the upper 19 bits of the register and ignores the rest.
constexpr double decode_tf32(std::uint32_t bits) {
  return std::bit_cast<float>(bits & 0xFFFFE000U);
}

// Widens without branches, so that loops over it run as vectors.
inline double widen_half(std::uint16_t half) {
  const std::uint32_t magnitude = (half & 0x7FFFU) << 13U;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
  bits |= magnitude >= 0x0F800000U ? 0x7F800000U : 0U; // infinity and NaN
  return std::bit_cast<float>(bits | (half & 0x8000U) << 16U);
}

// at(): element i of a register's 32 lanes, in the order of memory. A register of 32 bits packs
// kPerRegister elements of a lane, lowest bits first, so lanes follow each other without gaps.
template <class T> T load_at(const std::byte* lanes, int i) {
  T value;
  std::memcpy(&value, lanes + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

struct F16 {
  using Value = double;
  static constexpr int kPerRegister = 2;
  static Value at(const std::byte* lanes, int i) {
    return widen_half(load_at<std::uint16_t>(lanes, i));
  }
};
struct Bf16 {
  using Value = double;
  static constexpr int kPerRegister = 2;
  static Value at(const std::byte* lanes, int i) {
    return bfloat_to_float(load_at<std::uint16_t>(lanes, i));
  }
};
struct Tf32 {
  using Value = double;
  static constexpr int kPerRegister = 1;
  static Value at(const std::byte* lanes, int i) {
    return decode_tf32(load_at<std::uint32_t>(lanes, i));
  }
};
struct F64 {
  using Value = double;
  static constexpr int kPerRegister = 1;
  static Value at(const std::byte* lanes, int i) { return load_at<double>(lanes, i); }
};
struct E4m3 {
  using Value = double;
  static constexpr int kPerRegister = 4;
  static Value at(const std::byte* lanes, int i) {
    return decode_e4m3(load_at<std::uint8_t>(lanes, i));
  }
};
struct E5m2 {
  using Value = double;
  static constexpr int kPerRegister = 4;
  static Value at(const std::byte* lanes, int i) {
    return decode_e5m2(load_at<std::uint8_t>(lanes, i));
  }
};
template <class T> struct Byte {
  using Value = std::int32_t;
  static constexpr int kPerRegister = 4;
  static Value at(const std::byte* lanes, int i) { return load_at<T>(lanes, i); }
};
template <bool kSigned> struct Nibble {
  using Value = std::int32_t;
  static constexpr int kPerRegister = 8;
  static Value at(const std::byte* lanes, int i) {
    const int value = (load_at<std::uint8_t>(lanes, i / 2) >> (i % 2 * 4)) & 0xF;
    return kSigned ? (value ^ 8) - 8 : value;
  }
};
// Single bits are multiplied a word at a time; the word is the element.
struct Bits {
  using Value = std::int32_t;
  static constexpr int kPerRegister = 1;
  static Value at(const std::byte* lanes, int i) { return load_at<std::int32_t>(lanes, i); }
};

// Accumulators. encode() rounds once; a NaN leaves as the one the hardware writes.
struct AccumulatorF16 {
  using Value = double;
  using Element = std::uint16_t;
  static Value decode(Element bits) { return half_to_float(bits); }
  static Element encode(Value value) { return double_to_half(value); }
};
struct AccumulatorF32 {
  using Value = double;
  using Element = float;
  static Value decode(Element value) { return value; }
  static Element encode(Value value) {
    return std::isnan(value) ? std::bit_cast<float>(0x7FFFFFFFU) : static_cast<float>(value);
  }
};
struct AccumulatorF64 {
  using Value = double;
  using Element = double;
  static Value decode(Element value) { return value; }
  static Element encode(Value value) { return value; }
};
struct AccumulatorS32 {
  using Value = std::int64_t;
  using Element = std::int32_t;
  static Value decode(Element value) { return value; }
  static Element encode(Value value) {
    return static_cast<Element>(static_cast<std::uint32_t>(value));
  }
};
struct AccumulatorS32Saturated : AccumulatorS32 {
  static Element encode(Value value) {
    constexpr Value low = std::numeric_limits<Element>::min();
    constexpr Value high = std::numeric_limits<Element>::max();
    return static_cast<Element>(value < low ? low : value > high ? high : value);
  }
};

} // namespace matrix

} // namespace kernevo::vgpu
