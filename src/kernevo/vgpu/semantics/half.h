// f16 and bf16 arithmetic of PTX on one lane, on raw bits. Every result is rounded once.
#pragma once

#include "kernevo/base/small_floats.h"
#include "kernevo/vgpu/semantics/float.h"
#include "kernevo/vgpu/semantics/rounding.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace kernevo::vgpu::semantics {

struct Half {
  static constexpr std::uint16_t kInfinity = 0x7C00;
  static constexpr std::uint16_t kLargest = 0x7BFF;
  static constexpr std::uint16_t kOne = 0x3C00;
  static float widen(std::uint16_t bits) { return half_to_float(bits); }
  static std::uint16_t narrow(float value) { return float_to_half(value); }
  static std::uint16_t narrow(double value) { return double_to_half(value); }

  // The product has 22 bits and fits f32; the sum is rounded to odd.
  static float multiply_add(float a, float b, float c) {
    const ExactSum<float> exact = two_sum(a * b, c);
    const auto bits = std::bit_cast<std::uint32_t>(exact.sum);
    const bool inexact = (exact.error > 0) | (exact.error < 0);
    const std::uint32_t step = (exact.error > 0) == (exact.sum > 0) ? 1U : 0U - 1U;
    return std::bit_cast<float>(bits + (inexact && (bits & 1U) == 0 ? step : 0U));
  }
};
struct Bfloat {
  static constexpr std::uint16_t kInfinity = 0x7F80;
  static constexpr std::uint16_t kLargest = 0x7F7F;
  static constexpr std::uint16_t kOne = 0x3F80;
  static float widen(std::uint16_t bits) { return bfloat_to_float(bits); }
  static std::uint16_t narrow(float value) { return float_to_bfloat(value); }
  static std::uint16_t narrow(double value) { return double_to_bfloat(value); }

  // A product may be far beyond the range of f32.
  static float multiply_add(float a, float b, float c) {
    const ExactSum<double> exact =
        two_sum(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c));
    return round_to_odd(exact.sum, exact.error);
  }
};
inline constexpr std::uint16_t kHalfNan = 0x7FFF;
inline constexpr std::uint16_t kHalfSign = 0x8000;

template <class Format> constexpr std::uint16_t flush_half(std::uint16_t x) {
  return (x & Format::kInfinity) == 0 ? static_cast<std::uint16_t>(x & kHalfSign) : x;
}
template <class Format> constexpr bool is_nan_half(std::uint16_t x) {
  return (x & ~kHalfSign) > Format::kInfinity;
}

// x + y rounded to odd: rounding the result again, to 51 bits or fewer, is as good as rounding the
// exact sum.
inline double sum_to_odd(double x, double y) {
  const ExactSum<double> exact = two_sum(x, y);
  const auto bits = std::bit_cast<std::uint64_t>(exact.sum);
  const bool inexact = (exact.error > 0) | (exact.error < 0);
  const bool outward = (exact.error > 0) == (exact.sum > 0);
  const std::uint64_t step = outward ? 1 : std::uint64_t{0} - 1; // the neighbour there is odd
  return std::bit_cast<double>(bits + (inexact && (bits & 1U) == 0 ? step : 0));
}

struct HalfMode {
  bool ftz = false;
  bool sat = false;
  bool relu = false;
};

template <class Format, HalfMode Mode> std::uint16_t finish_half(std::uint16_t x) {
  if constexpr (Mode.ftz)
    x = flush_half<Format>(x);
  if constexpr (Mode.sat) { // NaN becomes 0
    const std::uint16_t capped = x > Format::kOne ? Format::kOne : x;
    x = x > Format::kInfinity ? std::uint16_t{0} : capped;
  }
  if constexpr (Mode.relu)
    x = !is_nan_half<Format>(x) && (x & kHalfSign) != 0 ? std::uint16_t{0} : x;
  return x;
}
template <class Format, HalfMode Mode> float operand_half(std::uint16_t x) {
  return Format::widen(Mode.ftz ? flush_half<Format>(x) : x);
}

// f32 has more than twice the bits of either format (24 >= 2*11+2): rounding a sum or a product
// first to f32, then to the format, gives what one rounding does.
template <class Format, HalfMode Mode> std::uint16_t add_half(std::uint16_t a, std::uint16_t b) {
  const float sum = operand_half<Format, Mode>(a) + operand_half<Format, Mode>(b);
  return finish_half<Format, Mode>(Format::narrow(sum));
}
template <class Format, HalfMode Mode> std::uint16_t sub_half(std::uint16_t a, std::uint16_t b) {
  const float difference = operand_half<Format, Mode>(a) - operand_half<Format, Mode>(b);
  return finish_half<Format, Mode>(Format::narrow(difference));
}
template <class Format, HalfMode Mode> std::uint16_t mul_half(std::uint16_t a, std::uint16_t b) {
  const float product = operand_half<Format, Mode>(a) * operand_half<Format, Mode>(b);
  return finish_half<Format, Mode>(Format::narrow(product));
}
template <class Format, HalfMode Mode>
std::uint16_t fma_half(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  return finish_half<Format, Mode>(Format::narrow(
      Format::multiply_add(operand_half<Format, Mode>(a), operand_half<Format, Mode>(b),
                           operand_half<Format, Mode>(c))));
}

template <class Format, bool Maximum, bool Ftz, bool PropagateNan, bool XorSign>
std::uint16_t extremum_half(std::uint16_t a, std::uint16_t b) {
  constexpr HalfMode rounding{Ftz, false, false};
  const float x = operand_half<Format, rounding>(a);
  const float y = operand_half<Format, rounding>(b);
  return Format::narrow(extremum<float, Maximum, false, PropagateNan, XorSign>(x, y));
}
template <class Format, bool Ftz> constexpr std::uint16_t absolute_half(std::uint16_t a) {
  return static_cast<std::uint16_t>((Ftz ? flush_half<Format>(a) : a) & ~kHalfSign);
}
template <class Format, bool Ftz> constexpr std::uint16_t negate_half(std::uint16_t a) {
  return static_cast<std::uint16_t>((Ftz ? flush_half<Format>(a) : a) ^ kHalfSign);
}

} // namespace kernevo::vgpu::semantics
