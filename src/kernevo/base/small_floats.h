// float16 and bfloat16 as 16 raw bits: exact widening, and narrowing with one rounding to nearest
// even straight from the wide value (a detour through float would round twice).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kernevo {

// Rounds a double to a binary format with the given number of stored mantissa bits and exponent
// bits, returned as raw bits (sign, exponent, mantissa). NaN becomes the canonical quiet NaN with
// all mantissa bits set, as the hardware produces it.
constexpr std::uint32_t round_to_small_float(double value, int mantissa_bits, int exponent_bits) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 63) << (mantissa_bits + exponent_bits);
  const std::uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFFU;
  const int biased = static_cast<int>((bits >> 52) & 0x7FF);
  if (biased == 0x7FF) {
    if (fraction != 0)
      return (infinity | ((1U << mantissa_bits) - 1)) &
             ((1U << (mantissa_bits + exponent_bits)) - 1);
    return sign | infinity;
  }
  if (biased == 0)
    return sign; // a double denormal is far below every small format
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = biased - 1023 + bias;
  std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  int shift = 52 - mantissa_bits;
  if (exponent <= 0) {
    shift += 1 - exponent;
    exponent = 0;
  }
  if (shift > 54)
    return sign;
  const std::uint64_t kept = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t halfway = std::uint64_t{1} << (shift - 1);
  std::uint64_t rounded = kept + ((rest > halfway || (rest == halfway && (kept & 1) != 0)) ? 1 : 0);
  // The implicit bit of a normal number is part of `rounded`; adding carries into the exponent.
  std::uint64_t result =
      exponent == 0 ? rounded
                    : (static_cast<std::uint64_t>(exponent - 1) << mantissa_bits) + rounded;
  if (result >= infinity)
    result = infinity;
  return sign | static_cast<std::uint32_t>(result);
}

constexpr std::uint16_t double_to_half(double value) {
  return static_cast<std::uint16_t>(round_to_small_float(value, 10, 5));
}

constexpr std::uint16_t double_to_bfloat(double value) {
  return static_cast<std::uint16_t>(round_to_small_float(value, 7, 8));
}

constexpr float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0x1F)
    return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

constexpr float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

} // namespace kernevo
