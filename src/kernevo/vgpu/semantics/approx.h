// The .approx functions, in f32 and without branches, so that loops over lanes run as vectors.
// Their errors (tests/ptx/approximation_test.cpp) lie inside the bounds of PTX; special values are
// those of the PTX tables. The coefficients are Chebyshev fits of the function named beside them.
#pragma once

#include "kernevo/vgpu/semantics/float.h"
#include "kernevo/vgpu/semantics/half.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace kernevo::vgpu::semantics {

template <std::size_t N> float polynomial(const std::array<float, N>& coefficients, float x) {
  float sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;)
    sum = std::fma(sum, x, coefficients[i]);
  return sum;
}

// 2^x, within one ulp, subnormal results included. NaN gives anything.
inline float exp2_f32(float x) {
  constexpr float least = -151; // 2^-150 rounds to zero
  constexpr float most = 129;
  x = x < least ? least : x;
  x = x > most ? most : x;
  constexpr float aligner = 0x1.8p23F; // adding it leaves the nearest integer in the low bits
  const float shifted = x + aligner;
  const float rest = x - (shifted - aligner);
  constexpr std::array series = {// (2^x - 1) / x on -1/2..1/2
                                 0x1.62e43p-1F,   0x1.ebfbep-3F, 0x1.c6b08ep-5F, 0x1.3b2a1cp-7F,
                                 0x1.5d879ep-10F, 0x1.444p-13F,  0x1.00a582p-16F};
  const float power = std::fma(rest, polynomial(series, rest), 1.0F);
  // The exponent in two steps: only the second can be inexact.
  const auto exponent = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(shifted) -
                                                  std::bit_cast<std::uint32_t>(aligner));
  const std::int32_t first = exponent >> 1;
  const auto scale = [](std::int32_t n) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
  };
  return power * scale(first) * scale(exponent - first);
}

// log2 of a positive finite number, within one ulp.
inline float log2_f32(float x) {
  constexpr std::uint32_t sqrt_half = 0x3F3504F3U;
  const bool tiny = x < 0x1p-126F;
  const auto bits = std::bit_cast<std::uint32_t>(tiny ? x * 0x1p24F : x);
  const std::int32_t exponent = static_cast<std::int32_t>(bits - sqrt_half) >> 23;
  const float t = std::bit_cast<float>(bits - (static_cast<std::uint32_t>(exponent) << 23)) - 1;
  constexpr std::array series = {// (log2(1 + t) - t/ln2) / t^2 on sqrt(1/2)-1..sqrt(2)-1
                                 -0x1.715476p-1F, 0x1.ec709ep-2F, -0x1.71545ap-2F, 0x1.2776fcp-2F,
                                 -0x1.ec825p-3F,  0x1.a616b6p-3F, -0x1.6f5426p-3F, 0x1.461fbap-3F,
                                 -0x1.3e32f6p-3F, 0x1.38e49p-3F,  -0x1.63cb8cp-4F};
  constexpr float inverse_ln2 = 0x1.715476p+0F;
  constexpr float inverse_ln2_rest = 0x1.4ae0cp-26F;
  const float linear = t * inverse_ln2;
  const float linear_rest = std::fma(t, inverse_ln2_rest, std::fma(t, inverse_ln2, -linear));
  const float mantissa = linear + std::fma(t * t, polynomial(series, t), linear_rest);
  return static_cast<float>(tiny ? exponent - 24 : exponent) + mantissa;
}

// sin(x), or cos(x) = sin(x + pi/2): absolute error below 2^-23 up to 2^48. Beyond, where PTX
// promises nothing, the numbers are further apart than a period; x counts as 0 there.
template <bool Cosine> float sine_f32(float x) {
  constexpr double limit = 0x1p48;
  const double wide = x;
  const double bounded = wide < limit && wide > -limit ? wide : 0;
  constexpr double aligner = 0x1.8p52;
  const double shifted = bounded * 0x1.45f306dc9c883p-1 + aligner; // * 2/pi
  const double whole = shifted - aligner;
  const auto quadrant =
      static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(shifted)) + (Cosine ? 1U : 0U);
  const double reduced = std::fma(-whole, 0x1.1a62633145c07p-54,
                                  std::fma(-whole, 0x1.921fb54442d18p+0, bounded)); // pi/2
  const auto r = static_cast<float>(reduced);
  const float z = r * r;
  constexpr std::array sine_series = {// (sin(r)/r - 1) / z
                                      -0x1.555556p-3F, 0x1.11110ep-7F, -0x1.a013a2p-13F,
                                      0x1.6dbbeep-19F};
  constexpr std::array cosine_series = {// (cos(r) - 1 + z/2) / z^2
                                        0x1.555556p-5F, -0x1.6c16cp-10F, 0x1.a015cp-16F,
                                        -0x1.2522e6p-22F};
  const float sine = r * std::fma(z, polynomial(sine_series, z), 1.0F); // keeps the sign of zero
  const float cosine = std::fma(z * z, polynomial(cosine_series, z), std::fma(z, -0.5F, 1.0F));
  const auto chosen = std::bit_cast<std::uint32_t>((quadrant & 1U) != 0 ? cosine : sine);
  const float result = std::bit_cast<float>(chosen ^ (quadrant & 2U) << 30);
  return std::abs(x) <= 0x1.fffffep127F ? result : std::bit_cast<float>(kCanonicalNan);
}

// Within three ulp.
inline float tanh_f32(float x) {
  const float z = x * x;
  constexpr std::array series = {// (tanh(x)/x - 1) / z up to 0.625
                                 -0x1.555556p-2F, 0x1.1110eap-3F,  -0x1.ba08c4p-5F,
                                 0x1.64a976p-6F,  -0x1.116a16p-7F, 0x1.2c83cp-9F};
  const float small = x * std::fma(z, polynomial(series, z), 1.0F);
  constexpr float one_from = 10;
  const float magnitude = std::abs(x);
  const float bounded = magnitude < one_from ? magnitude : one_from;
  constexpr float twice_inverse_ln2 = 0x1.715476p+1F;
  const float large = 1 - 2 / (exp2_f32(bounded * twice_inverse_ln2) + 1);
  return canonical(magnitude < 0.625F || x != x ? small : std::copysign(large, x));
}

template <bool Ftz> float ex2_approx(float a) {
  const float x = flush_if<Ftz>(a);
  const float result = exp2_f32(x);
  return x != x ? std::bit_cast<float>(kCanonicalNan) : flush_if<Ftz>(result);
}
template <bool Ftz> float lg2_approx(float a) {
  const float x = flush_if<Ftz>(a);
  const float infinity = std::bit_cast<float>(0x7F800000U);
  float result = log2_f32(x);
  result = x == 0 ? -infinity : result;
  result = x == infinity ? infinity : result;
  return x >= 0 ? result : std::bit_cast<float>(kCanonicalNan);
}
template <bool Ftz> float rcp_approx(float a) {
  return rcp_f32<Rounding::rn, Ftz>(a);
}
template <bool Ftz> float sqrt_approx(float a) {
  return sqrt_f32<Rounding::rn, Ftz>(a);
}
// Two roundings: at most 2^-23.
template <bool Ftz> float rsqrt_approx(float a) {
  return finish<Ftz, false>(1.0F / std::sqrt(flush_if<Ftz>(a)));
}
template <bool Ftz> float sin_approx(float a) {
  return finish<Ftz, false>(sine_f32<false>(flush_if<Ftz>(a)));
}
template <bool Ftz> float cos_approx(float a) {
  return finish<Ftz, false>(sine_f32<true>(flush_if<Ftz>(a)));
}
inline float tanh_approx(float a) {
  return tanh_f32(a);
}

// Computed as a * (1/b): beyond 2^126 the reciprocal is flushed to zero.
template <bool Ftz> float div_approx(float a, float b) {
  const float x = flush_if<Ftz>(a);
  const float magnitude = std::abs(b);
  const bool vanishes = magnitude > 0x1p126F && magnitude <= 0x1.fffffep127F;
  const float zero = x * std::copysign(0.0F, b);
  return finish<Ftz, false>(vanishes ? zero : x / flush_if<Ftz>(b));
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
  const std::uint16_t result = x != x ? kHalfNan : Format::narrow(exp2_f32(x));
  return Ftz ? flush_half<Format>(result) : result;
}
template <class Format> std::uint16_t tanh_half(std::uint16_t a) {
  return Format::narrow(tanh_f32(Format::widen(a)));
}

} // namespace kernevo::vgpu::semantics
