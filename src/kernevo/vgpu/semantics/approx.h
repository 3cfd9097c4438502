// The .approx functions. PTX bounds their error; these are computed in double and rounded once, so
// they lie well inside every bound. Special values are those of the PTX tables.
#pragma once

#include "kernevo/vgpu/semantics/float.h"
#include "kernevo/vgpu/semantics/half.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace kernevo::vgpu::semantics {

inline constexpr double kLn2 = 0.693147180559945309417;

// 2^x to about 14 digits, without a branch so that lane loops vectorise; x within the exponent
// range of double after clamping, which is far beyond that of f32.
inline double exp2_wide(double x) {
  constexpr double limit = 1000;
  x = x < -limit ? -limit : x;
  x = x > limit ? limit : x;
  constexpr double round_magic = 0x1.8p52; // adding it leaves the nearest integer in the low bits
  const double shifted = x + round_magic;
  const double whole = shifted - round_magic;
  const double t = (x - whole) * kLn2;
  // Taylor series; |t| < 0.35 leaves 6e-15 after the eleventh power.
  constexpr std::array<double, 12> inverse_factorial = {
      1.0,       1.0,        1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,
      1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800};
  double power = inverse_factorial[11];
  for (int i = 10; i >= 0; --i)
    power = power * t + inverse_factorial[static_cast<std::size_t>(i)];
  const auto exponent = std::bit_cast<std::uint64_t>(shifted) << 52;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(power) + exponent);
}

// log2 of a positive finite normal double, about 14 digits.
inline double log2_wide(double x) {
  constexpr std::uint64_t sqrt_half = 0x3FE6A09E667F3BCDU;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto distance = static_cast<std::int64_t>(bits - sqrt_half);
  const std::int64_t exponent = distance >> 52;
  const double mantissa = std::bit_cast<double>(
      bits - (static_cast<std::uint64_t>(exponent) << 52)); // sqrt(1/2)..sqrt(2)
  const double s = (mantissa - 1) / (mantissa + 1);
  const double z = s * s;
  double series = 1.0 / 15;
  for (int i = 13; i >= 1; i -= 2)
    series = series * z + 1.0 / i;
  return static_cast<double>(exponent) + 2 / kLn2 * s * series;
}

template <bool Ftz> float ex2_approx(float a) {
  const float x = flush_if<Ftz>(a);
  const auto result = static_cast<float>(exp2_wide(x));
  return x != x ? std::bit_cast<float>(kCanonicalNan) : flush_if<Ftz>(result);
}
template <bool Ftz> float lg2_approx(float a) {
  const float x = flush_if<Ftz>(a);
  const float infinity = std::bit_cast<float>(0x7F800000U);
  auto result = static_cast<float>(log2_wide(x));
  if (x == 0)
    result = -infinity;
  if (x == infinity)
    result = infinity;
  if (!(x >= 0))
    result = std::bit_cast<float>(kCanonicalNan);
  return result;
}
template <bool Ftz> float rcp_approx(float a) {
  return rcp_f32<Rounding::rn, Ftz>(a);
}
template <bool Ftz> float sqrt_approx(float a) {
  return sqrt_f32<Rounding::rn, Ftz>(a);
}
template <bool Ftz> float rsqrt_approx(float a) {
  const float x = flush_if<Ftz>(a);
  return finish<Ftz, false>(static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))));
}
template <bool Ftz> float sin_approx(float a) {
  return finish<Ftz, false>(static_cast<float>(std::sin(static_cast<double>(flush_if<Ftz>(a)))));
}
template <bool Ftz> float cos_approx(float a) {
  return finish<Ftz, false>(static_cast<float>(std::cos(static_cast<double>(flush_if<Ftz>(a)))));
}
inline float tanh_approx(float a) {
  return canonical(static_cast<float>(std::tanh(static_cast<double>(a))));
}

// Computed as a * (1/b): beyond 2^126 the reciprocal is flushed to zero.
template <bool Ftz> float div_approx(float a, float b) {
  const float x = flush_if<Ftz>(a);
  const float magnitude = std::abs(b);
  if (magnitude > 0x1p126F && magnitude <= 0x1.fffffep127F) {
    const float zero = std::copysign(0.0F, b);
    return canonical(x * zero);
  }
  return div_f32<Rounding::rn, Ftz>(x, b);
}
template <bool Ftz> float div_full(float a, float b) {
  return div_f32<Rounding::rn, Ftz>(a, b);
}

// The .ftz forms of f64 read and write only the upper 32 bits.
inline double upper_word(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xFFFFFFFF00000000U);
}
inline double flush_f64(double x) {
  return std::abs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x;
}
inline double rcp_approx_f64(double a) {
  return upper_word(flush_f64(1.0 / flush_f64(upper_word(a))));
}
inline double rsqrt_approx_ftz_f64(double a) {
  return upper_word(flush_f64(1.0 / std::sqrt(flush_f64(upper_word(a)))));
}
inline double rsqrt_approx_f64(double a) {
  return 1.0 / std::sqrt(a);
}

template <class Format, bool Ftz> std::uint16_t ex2_half(std::uint16_t a) {
  const float x = Format::widen(Ftz ? flush_half<Format>(a) : a);
  const std::uint16_t result = x != x ? kHalfNan : Format::narrow(exp2_wide(x));
  return Ftz ? flush_half<Format>(result) : result;
}
template <class Format> std::uint16_t tanh_half(std::uint16_t a) {
  return Format::narrow(std::tanh(static_cast<double>(Format::widen(a))));
}

} // namespace kernevo::vgpu::semantics
