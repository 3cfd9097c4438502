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
  static float widen(std::uint16_t bits) { return half_to_float(bits); }
  static std::uint16_t narrow(double value) { return double_to_half(value); }
};
struct Bfloat {
  static constexpr std::uint16_t kInfinity = 0x7F80;
  static constexpr std::uint16_t kLargest = 0x7F7F;
  static float widen(std::uint16_t bits) { return bfloat_to_float(bits); }
  static std::uint16_t narrow(double value) { return double_to_bfloat(value); }
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
  const DoubleSum exact = two_sum(x, y);
  if (exact.error == 0 || !std::isfinite(exact.sum))
    return exact.sum;
  auto bits = std::bit_cast<std::uint64_t>(exact.sum);
  if ((bits & 1U) == 0) // the neighbour on the error's side is odd
    bits += (exact.error > 0) == (exact.sum > 0) ? 1 : std::uint64_t{0} - 1;
  return std::bit_cast<double>(bits);
}

struct HalfMode {
  bool ftz = false;
  bool sat = false;
  bool relu = false;
};

template <class Format, HalfMode Mode> std::uint16_t finish_half(std::uint16_t x) {
  if constexpr (Mode.ftz)
    x = flush_half<Format>(x);
  if constexpr (Mode.sat)
    x = is_nan_half<Format>(x) ? std::uint16_t{0}
                               : Format::narrow(saturate(static_cast<double>(Format::widen(x))));
  if constexpr (Mode.relu)
    if (!is_nan_half<Format>(x) && (x & kHalfSign) != 0)
      x = 0;
  return x;
}
template <class Format, HalfMode Mode> double operand_half(std::uint16_t x) {
  return Format::widen(Mode.ftz ? flush_half<Format>(x) : x);
}

template <class Format, HalfMode Mode> std::uint16_t add_half(std::uint16_t a, std::uint16_t b) {
  const double exact = sum_to_odd(operand_half<Format, Mode>(a), operand_half<Format, Mode>(b));
  return finish_half<Format, Mode>(Format::narrow(exact));
}
template <class Format, HalfMode Mode> std::uint16_t sub_half(std::uint16_t a, std::uint16_t b) {
  const double exact = sum_to_odd(operand_half<Format, Mode>(a), -operand_half<Format, Mode>(b));
  return finish_half<Format, Mode>(Format::narrow(exact));
}
template <class Format, HalfMode Mode> std::uint16_t mul_half(std::uint16_t a, std::uint16_t b) {
  const double exact = operand_half<Format, Mode>(a) * operand_half<Format, Mode>(b);
  return finish_half<Format, Mode>(Format::narrow(exact));
}
template <class Format, HalfMode Mode>
std::uint16_t fma_half(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  const double product = operand_half<Format, Mode>(a) * operand_half<Format, Mode>(b);
  return finish_half<Format, Mode>(
      Format::narrow(sum_to_odd(product, operand_half<Format, Mode>(c))));
}

template <class Format, bool Maximum, bool Ftz, bool PropagateNan, bool XorSign>
std::uint16_t extremum_half(std::uint16_t a, std::uint16_t b) {
  constexpr HalfMode rounding{Ftz, false, false};
  const auto x = static_cast<float>(operand_half<Format, rounding>(a));
  const auto y = static_cast<float>(operand_half<Format, rounding>(b));
  return Format::narrow(extremum<float, Maximum, false, PropagateNan, XorSign>(x, y));
}
template <class Format, bool Ftz> constexpr std::uint16_t absolute_half(std::uint16_t a) {
  return static_cast<std::uint16_t>((Ftz ? flush_half<Format>(a) : a) & ~kHalfSign);
}
template <class Format, bool Ftz> constexpr std::uint16_t negate_half(std::uint16_t a) {
  return static_cast<std::uint16_t>((Ftz ? flush_half<Format>(a) : a) ^ kHalfSign);
}

} // namespace kernevo::vgpu::semantics
