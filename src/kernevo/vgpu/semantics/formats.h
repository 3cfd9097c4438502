// The number formats cvt knows: exact decoding to double, and encoding with one rounding.
#pragma once

#include "kernevo/base/small_floats.h"
#include "kernevo/vgpu/semantics/float.h"
#include "kernevo/vgpu/semantics/half.h"
#include "kernevo/vgpu/semantics/rounding.h"

#include <bit>
#include <cstdint>

namespace kernevo::vgpu::semantics {

template <class Format> struct SixteenBits {
  using Storage = std::uint16_t;
  static constexpr bool kIsF64 = false;
  static float decode(Storage bits) { return Format::widen(bits); }
  template <Rounding Mode, class T> static Storage encode(T value) {
    const Storage nearest = Format::narrow(value);
    if constexpr (Mode == Rounding::rn)
      return nearest;
    else // the difference is NaN, without a sign, unless both are finite
      return redirect(nearest, sign_of(value - static_cast<T>(Format::widen(nearest))), Mode);
  }
};
struct F16 : SixteenBits<Half> {};
struct Bf16 : SixteenBits<Bfloat> {};

struct F32 {
  using Storage = float;
  static constexpr bool kIsF64 = false;
  static float decode(Storage value) { return value; }
  template <Rounding> static Storage encode(float value) { return canonical(value); }
  template <Rounding Mode> static Storage encode(double value) {
    const auto nearest = static_cast<float>(value);
    if constexpr (Mode == Rounding::rn)
      return canonical(nearest);
    else
      return canonical(redirect(nearest, sign_of(value - static_cast<double>(nearest)), Mode));
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
  return canonical(Format::decode(value));
}

// The bits of a float without its sign, rounded to an fp8 format, never above `largest`.
template <int MantissaBits, int ExponentBits>
constexpr std::uint8_t encode_fp8(float value, std::uint8_t largest, std::uint8_t nan) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = narrow_magnitude<MantissaBits, ExponentBits>(bits & 0x7FFFFFFFU);
  const std::uint32_t kept = rounded < largest ? rounded : largest;
  return value != value ? nan : static_cast<std::uint8_t>(kept | (bits >> 24 & 0x80U));
}

// fp8 conversions are always .satfinite: what is too large becomes the largest finite number.
struct E4m3 {
  static constexpr std::uint8_t kNan = 0x7F;
  static constexpr std::uint8_t kLargest = 0x7E; // 448: the top binade holds numbers, not infinity
  static float decode(std::uint8_t bits) {
    // As f16 with the mantissa moved up it is right but for the bias.
    const float scaled = half_to_float(static_cast<std::uint16_t>((bits & 0x7FU) << 7));
    const float magnitude =
        (bits & 0x7FU) == kNan ? std::bit_cast<float>(kCanonicalNan) : scaled * 0x1p8F;
    return (bits & 0x80U) != 0 ? -magnitude : magnitude;
  }
  static std::uint8_t encode(float value) { return encode_fp8<3, 4>(value, kLargest, kNan); }
};
struct E5m2 {
  static constexpr std::uint8_t kNan = 0x7F;
  static constexpr std::uint8_t kLargest = 0x7B; // 57344
  static float decode(std::uint8_t bits) {
    return half_to_float(static_cast<std::uint16_t>(bits << 8));
  }
  static std::uint8_t encode(float value) { return encode_fp8<2, 5>(value, kLargest, kNan); }
};

// A power of two without sign: exponent - 127. Used as the scale of a block.
inline std::uint8_t encode_ue8m0(float value, Rounding mode) {
  constexpr std::uint32_t largest = 0xFE;
  constexpr std::uint32_t nan = 0xFF;
  constexpr std::uint32_t half = 0x400000; // of the least normal number: 2^-127, code 0
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
  const std::uint32_t exponent = magnitude >> 23;
  const std::uint32_t exact = exponent == 0 ? half : 0;
  const bool above = (magnitude & 0x7FFFFFU) > exact;
  const std::uint32_t code = exponent + (mode == Rounding::rp && above ? 1U : 0U);
  return static_cast<std::uint8_t>(value != value ? nan : code < largest ? code : largest);
}
inline float decode_ue8m0(std::uint8_t bits) {
  const std::uint32_t normal = std::uint32_t{bits} << 23;
  const std::uint32_t least = 0x400000; // 2^-127 is subnormal
  const std::uint32_t power = bits == 0 ? least : normal;
  return std::bit_cast<float>(bits == 0xFF ? kCanonicalNan : power);
}

} // namespace kernevo::vgpu::semantics
