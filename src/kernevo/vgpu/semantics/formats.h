// The number formats cvt knows: exact decoding to double, and encoding with one rounding.
#pragma once

#include "kernevo/base/small_floats.h"
#include "kernevo/vgpu/semantics/float.h"
#include "kernevo/vgpu/semantics/half.h"
#include "kernevo/vgpu/semantics/rounding.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace kernevo::vgpu::semantics {

template <class Format> struct SixteenBits {
  using Storage = std::uint16_t;
  static constexpr bool kIsF64 = false;
  static double decode(Storage bits) { return Format::widen(bits); }
  template <Rounding Mode> static Storage encode(double value) {
    const Storage nearest = Format::narrow(value);
    if constexpr (Mode == Rounding::rn)
      return nearest;
    if (!std::isfinite(value))
      return nearest;
    return redirect(nearest, sign_of(value - static_cast<double>(Format::widen(nearest))), Mode);
  }
};
struct F16 : SixteenBits<Half> {};
struct Bf16 : SixteenBits<Bfloat> {};

struct F32 {
  using Storage = float;
  static constexpr bool kIsF64 = false;
  static double decode(Storage value) { return value; }
  template <Rounding Mode> static Storage encode(double value) {
    const auto nearest = static_cast<float>(value);
    if constexpr (Mode == Rounding::rn)
      return canonical(nearest);
    const int side = std::isfinite(value) ? sign_of(value - static_cast<double>(nearest)) : 0;
    return canonical(redirect(nearest, side, Mode));
  }
};
struct F64 {
  using Storage = double;
  static constexpr bool kIsF64 = true;
  static double decode(Storage value) { return value; }
  template <Rounding> static Storage encode(double value) { return value; }
};

// Exact.
template <class Format> float float_to_f32(typename Format::Storage value) {
  return canonical(static_cast<float>(Format::decode(value)));
}

// fp8 conversions are always .satfinite: what is too large becomes the largest finite number.
struct E4m3 {
  static constexpr std::uint8_t kNan = 0x7F;
  static constexpr std::uint8_t kLargest = 0x7E; // 448
  static double decode(std::uint8_t bits) {
    const int exponent = bits >> 3 & 15;
    const int mantissa = bits & 7;
    double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
    if ((bits & 0x7FU) == kNan)
      magnitude = std::bit_cast<double>(kCanonicalNan64);
    return (bits & 0x80U) != 0 ? -magnitude : magnitude;
  }
  static std::uint8_t encode(double value) {
    if (std::isnan(value))
      return kNan;
    const double magnitude = std::abs(value);
    // The format has no infinity: its top binade, where numbers lie 32 apart, holds numbers too.
    if (magnitude < 256)
      return static_cast<std::uint8_t>(round_to_small_float(value, 3, 4));
    const double steps = std::nearbyint(std::fmin(magnitude, 448.0) / 32);
    return static_cast<std::uint8_t>((std::signbit(value) ? 0x80 : 0) + 0x70 +
                                     static_cast<int>(steps));
  }
};
struct E5m2 {
  static constexpr std::uint8_t kNan = 0x7F;
  static constexpr std::uint8_t kLargest = 0x7B; // 57344
  static double decode(std::uint8_t bits) {
    return half_to_float(static_cast<std::uint16_t>(bits << 8));
  }
  static std::uint8_t encode(double value) {
    if (std::isnan(value))
      return kNan;
    const auto bits = static_cast<std::uint8_t>(round_to_small_float(value, 2, 5));
    return (bits & 0x7FU) > kLargest ? static_cast<std::uint8_t>((bits & 0x80U) | kLargest) : bits;
  }
};

// A power of two without sign: exponent - 127. Used as the scale of a block.
inline std::uint8_t encode_ue8m0(float value, Rounding mode) {
  if (std::isnan(value))
    return 0xFF;
  int exponent = 0;
  const float fraction = std::frexp(std::abs(value), &exponent); // in [0.5, 1)
  if (std::isinf(value))
    return 0xFE;
  if (fraction == 0)
    return 0;
  int code = exponent - 1 + 127;
  if (mode == Rounding::rp && fraction != 0.5F)
    ++code;
  return static_cast<std::uint8_t>(code < 0 ? 0 : code > 0xFE ? 0xFE : code);
}
inline double decode_ue8m0(std::uint8_t bits) {
  return bits == 0xFF ? std::bit_cast<double>(kCanonicalNan64) : std::ldexp(1.0, bits - 127);
}

} // namespace kernevo::vgpu::semantics
