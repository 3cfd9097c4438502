// float16 and bfloat16 as 16 raw bits: exact widening, and narrowing with one rounding to nearest
// even straight from the wide value. Without branches, so that loops over them vectorise.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kernevo {

// The sum of a double and a far smaller error as a float rounded to odd: rounding that again, to 22
// bits or fewer, is as good as rounding the exact sum. (A nearest float would round twice.)
constexpr float round_to_odd(double value, double error = 0) {
  const auto nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const double distance = value - static_cast<double>(nearest); // NaN if not finite: no step then
  const double rest = distance != 0 ? distance : error;
  const bool inexact = (rest > 0) | (rest < 0);
  const bool outward = (rest > 0) == ((bits >> 31) == 0);
  const std::uint32_t step = outward ? 1U : 0U - 1U;
  return std::bit_cast<float>(bits + (inexact && (bits & 1U) == 0 ? step : 0U));
}

// A float's magnitude bits rounded to a smaller format's. Beyond its range the result goes on as if
// the exponent had more bits, so the caller cuts it off.
template <int MantissaBits, int ExponentBits>
constexpr std::uint32_t narrow_magnitude(std::uint32_t magnitude) {
  constexpr std::uint32_t bias = (1U << (ExponentBits - 1)) - 1;
  constexpr std::uint32_t shift = 23 - MantissaBits;
  constexpr std::uint32_t least_normal = (128 - bias) << 23;
  const std::uint32_t odd = (magnitude >> shift) & 1U;
  const std::uint32_t normal =
      (magnitude - ((127 - bias) << 23) + ((1U << (shift - 1)) - 1) + odd) >> shift;
  // Adding a number whose last bit weighs as much as the format's rounds a subnormal in place.
  constexpr std::uint32_t aligner = (127 + 1 - bias - MantissaBits + 23) << 23;
  const float aligned = std::bit_cast<float>(magnitude) + std::bit_cast<float>(aligner);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(aligned) - aligner;
  return magnitude < least_normal ? subnormal : normal;
}

// NaN becomes the canonical quiet NaN with all mantissa bits set, as the hardware produces it.
constexpr std::uint16_t float_to_half(float value) {
  constexpr std::uint16_t nan = 0x7FFF;
  constexpr std::uint32_t infinity = 0x7C00;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
#if defined(__clang__) && defined(__F16C__)
  if (!std::is_constant_evaluated()) {
    const auto narrow = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    return magnitude > 0x7F800000U ? nan : narrow;
  }
#endif
  const std::uint32_t small = narrow_magnitude<10, 5>(magnitude);
  const std::uint32_t kept = small < infinity ? small : infinity;
  const auto narrow = static_cast<std::uint16_t>(kept | (bits >> 16 & 0x8000U));
  return magnitude > 0x7F800000U ? nan : narrow;
}

constexpr std::uint16_t float_to_bfloat(float value) {
  constexpr std::uint16_t nan = 0x7FFF;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto narrow = static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
  return (bits & 0x7FFFFFFFU) > 0x7F800000U ? nan : narrow;
}

constexpr std::uint16_t double_to_half(double value) {
  return float_to_half(round_to_odd(value));
}

constexpr std::uint16_t double_to_bfloat(double value) {
  return float_to_bfloat(round_to_odd(value));
}

constexpr float half_to_float(std::uint16_t bits) {
#if defined(__clang__) && defined(__F16C__)
  if (!std::is_constant_evaluated())
    return static_cast<float>(std::bit_cast<_Float16>(bits));
#endif
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7FFFU;
  const std::uint32_t shifted = magnitude << 13;
  const std::uint32_t rebias = magnitude < 0x7C00U ? 112U << 23 : 224U << 23;
  constexpr std::uint32_t least_normal = 113U << 23;
  const float subnormal =
      std::bit_cast<float>(shifted + least_normal) - std::bit_cast<float>(least_normal);
  const std::uint32_t wide =
      magnitude < 0x400U ? std::bit_cast<std::uint32_t>(subnormal) : shifted + rebias;
  return std::bit_cast<float>(wide | sign);
}

constexpr float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

} // namespace kernevo
