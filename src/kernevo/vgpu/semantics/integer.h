// Integer arithmetic of PTX on one lane. Overflow wraps; nothing here is undefined for any input.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kernevo::vgpu::semantics {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// Unsigned and at least 32 bits wide: 16-bit operands would promote to int, where products
// overflow.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;

template <class T> struct WideOf;
template <> struct WideOf<std::int16_t> {
  using Type = std::int32_t;
};
template <> struct WideOf<std::uint16_t> {
  using Type = std::uint32_t;
};
template <> struct WideOf<std::int32_t> {
  using Type = std::int64_t;
};
template <> struct WideOf<std::uint32_t> {
  using Type = std::uint64_t;
};
template <> struct WideOf<std::int64_t> {
  using Type = Int128;
};
template <> struct WideOf<std::uint64_t> {
  using Type = UInt128;
};
template <class T> using Wide = typename WideOf<T>::Type;

template <class T> constexpr T add(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T> constexpr T sub(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <class T> constexpr T mul_lo(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
template <class T> constexpr Wide<T> mul_wide(T a, T b) {
  return static_cast<Wide<T>>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}
template <class T> constexpr T mul_hi(T a, T b) {
  return static_cast<T>(mul_wide(a, b) >> (8 * sizeof(T)));
}
template <class T> constexpr T mad_lo(T a, T b, T c) {
  return add(mul_lo(a, b), c);
}
template <class T> constexpr T mad_hi(T a, T b, T c) {
  return add(mul_hi(a, b), c);
}
template <class T> constexpr Wide<T> mad_wide(T a, T b, Wide<T> c) {
  return add<Wide<T>>(mul_wide(a, b), c);
}

constexpr std::int32_t clamp_s32(std::int64_t value) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(value < lowest ? lowest : value > highest ? highest : value);
}
constexpr std::int32_t add_sat(std::int32_t a, std::int32_t b) {
  return clamp_s32(std::int64_t{a} + b);
}
constexpr std::int32_t sub_sat(std::int32_t a, std::int32_t b) {
  return clamp_s32(std::int64_t{a} - b);
}
constexpr std::int32_t mad_hi_sat(std::int32_t a, std::int32_t b, std::int32_t c) {
  return add_sat(mul_hi(a, b), c);
}

// a / b of at most 32 bits, towards zero. A quotient that is no integer is at least 2^-32
// (relative) away from one, so a double cannot round up to it; and doubles divide in vectors. The
// lowest number by -1 wraps.
template <class T> constexpr T quotient(T a, T b) {
  constexpr double aligner = 0x1.8p52; // adding it leaves the integer in the low bits
  const double ratio = static_cast<double>(a) / static_cast<double>(b);
  // Towards zero by rounding to nearest: the aligned number is a neighbour of the ratio.
  const double nearest = (ratio + aligner) - aligner;
  const double magnitude = nearest < 0 ? -nearest : nearest;
  const bool outside = magnitude > (ratio < 0 ? -ratio : ratio);
  const double step = outside ? (ratio < 0 ? 1.0 : -1.0) : 0.0;
  return static_cast<T>(std::bit_cast<std::uint64_t>(nearest + step + aligner));
}

// Division by zero is unspecified in PTX; the hardware's all-ones answer keeps the host alive.
template <class T> constexpr T divide(T a, T b) {
  if constexpr (sizeof(T) <= 4)
    return b == 0 ? static_cast<T>(~T{0}) : quotient(a, static_cast<T>(b == 0 ? T{1} : b));
  if (b == 0)
    return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return sub(T{0}, a);
  return static_cast<T>(a / b);
}
template <class T> constexpr T remainder(T a, T b) {
  if constexpr (sizeof(T) <= 4) {
    const T divisor = b == 0 ? T{1} : b;
    return b == 0 ? static_cast<T>(~T{0}) : sub(a, mul_lo(quotient(a, divisor), divisor));
  }
  if (b == 0)
    return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return 0;
  return static_cast<T>(a % b);
}

template <class T> constexpr T minimum(T a, T b) {
  return b < a ? b : a;
}
template <class T> constexpr T maximum(T a, T b) {
  return a < b ? b : a;
}
template <class T> constexpr T negate(T a) {
  return sub(T{0}, a);
}
template <class T> constexpr T absolute(T a) {
  return a < 0 ? negate(a) : a;
}
constexpr std::int32_t max_relu(std::int32_t a, std::int32_t b) {
  return maximum(maximum(a, b), std::int32_t{0});
}
constexpr std::int32_t min_relu(std::int32_t a, std::int32_t b) {
  return maximum(minimum(a, b), std::int32_t{0});
}
template <bool Maximum, bool Relu>
constexpr std::int16_t extremum_s16(std::uint16_t a, std::uint16_t b) {
  const auto x = static_cast<std::int16_t>(a);
  const auto y = static_cast<std::int16_t>(b);
  const std::int16_t chosen = Maximum ? maximum(x, y) : minimum(x, y);
  return Relu && chosen < 0 ? std::int16_t{0} : chosen;
}
template <class T> constexpr T sum_of_absolute_difference(T a, T b, T c) {
  return add(c, static_cast<T>(a < b ? sub(b, a) : sub(a, b)));
}

// The two 16-bit halves of a 32-bit register, each through Function.
template <auto Function> constexpr std::uint32_t halves_unary(std::uint32_t a) {
  const auto low = Function(static_cast<std::uint16_t>(a));
  const auto high = Function(static_cast<std::uint16_t>(a >> 16));
  return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
}
template <auto Function> constexpr std::uint32_t halves_binary(std::uint32_t a, std::uint32_t b) {
  const auto low = static_cast<std::uint16_t>(
      Function(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)));
  const auto high = static_cast<std::uint16_t>(
      Function(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16)));
  return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
}
template <auto Function>
constexpr std::uint32_t halves_ternary(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto low = Function(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b),
                            static_cast<std::uint16_t>(c));
  const auto high =
      Function(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16),
               static_cast<std::uint16_t>(c >> 16));
  return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
}

template <class T> constexpr T low_24_bits(T a) {
  constexpr int unused = 8;
  return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(a) << unused) >> unused);
}
template <class T> constexpr T mul24_lo(T a, T b) {
  return static_cast<T>(mul_wide(low_24_bits(a), low_24_bits(b)));
}
template <class T> constexpr T mul24_hi(T a, T b) {
  return static_cast<T>(mul_wide(low_24_bits(a), low_24_bits(b)) >> 16);
}
template <class T> constexpr T mad24_lo(T a, T b, T c) {
  return add(mul24_lo(a, b), c);
}
template <class T> constexpr T mad24_hi(T a, T b, T c) {
  return add(mul24_hi(a, b), c);
}
constexpr std::int32_t mad24_hi_sat(std::int32_t a, std::int32_t b, std::int32_t c) {
  return add_sat(mul24_hi(a, b), c);
}

// Byte `index` of a word, extended as the type says.
template <bool Signed> constexpr std::int32_t byte_at(std::uint32_t word, int index) {
  const auto byte = static_cast<std::uint8_t>(word >> (8 * index));
  return Signed ? std::int32_t{static_cast<std::int8_t>(byte)} : std::int32_t{byte};
}
template <bool Signed> constexpr std::int32_t half_at(std::uint32_t word, int index) {
  const auto half = static_cast<std::uint16_t>(word >> (16 * index));
  return Signed ? std::int32_t{static_cast<std::int16_t>(half)} : std::int32_t{half};
}

template <bool SignedA, bool SignedB>
constexpr std::uint32_t dp4a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<std::uint32_t>(byte_at<SignedA>(a, i) * byte_at<SignedB>(b, i));
  return c;
}
template <bool SignedA, bool SignedB, bool High>
constexpr std::uint32_t dp2a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int i = 0; i < 2; ++i)
    c += static_cast<std::uint32_t>(half_at<SignedA>(a, i) *
                                    byte_at<SignedB>(b, i + (High ? 2 : 0)));
  return c;
}

} // namespace kernevo::vgpu::semantics
