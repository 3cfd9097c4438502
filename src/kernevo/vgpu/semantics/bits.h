// Bit manipulation of PTX on one lane.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kernevo::vgpu::semantics {

template <class T> constexpr T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T> constexpr T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T> constexpr T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T> constexpr T bit_not(T a) {
  return static_cast<T>(~a);
}
template <class T> constexpr T logical_not(T a) {
  return a == 0 ? T{1} : T{0};
}

// Shifts by the register's width or more give all zeros, or all sign bits.
template <class T> constexpr T shift_left(T a, std::uint32_t count) {
  constexpr std::uint32_t width = 8 * sizeof(T);
  const auto shifted = static_cast<T>(std::uint64_t{a} << (count & (width - 1)));
  return count >= width ? T{0} : shifted;
}
template <class T> constexpr T shift_right(T a, std::uint32_t count) {
  constexpr std::uint32_t width = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (count >= width ? width - 1 : count));
  } else {
    const auto shifted = static_cast<T>(a >> (count & (width - 1)));
    return count >= width ? T{0} : shifted;
  }
}

template <bool Left, bool Wrap>
constexpr std::uint32_t funnel_shift(std::uint32_t low, std::uint32_t high, std::uint32_t count) {
  const std::uint32_t n = Wrap ? count & 31U : (count > 32 ? 32U : count);
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<std::uint32_t>(Left ? (both << n) >> 32 : both >> n);
}

// The table's bit i is the result where (a, b, c) spell i in binary.
constexpr std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t lut) {
  const auto term = [lut](unsigned index) { return 0U - ((lut >> index) & 1U); };
  return (term(0) & ~a & ~b & ~c) | (term(1) & ~a & ~b & c) | (term(2) & ~a & b & ~c) |
         (term(3) & ~a & b & c) | (term(4) & a & ~b & ~c) | (term(5) & a & ~b & c) |
         (term(6) & a & b & ~c) | (term(7) & a & b & c);
}

constexpr std::uint32_t byte_of(std::uint64_t bytes, std::uint32_t index) {
  return static_cast<std::uint32_t>(bytes >> (8 * (index & 7U))) & 0xFFU;
}

constexpr std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t nibble = selector >> (4 * i);
    const std::uint32_t byte = byte_of(bytes, nibble);
    const std::uint32_t sign = (byte & 0x80U) != 0 ? 0xFFU : 0U;
    result |= ((nibble & 8U) != 0 ? sign : byte) << (8 * i);
  }
  return result;
}

enum class PrmtMode : std::uint8_t { f4e, b4e, rc8, ecl, ecr, rc16 };

// Each mode as the byte it picks for position i, given the two selector bits.
template <PrmtMode Mode>
constexpr std::uint32_t prmt_mode(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  const std::uint32_t n = selector & 3U;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::uint32_t index = 0;
    switch (Mode) {
    case PrmtMode::f4e: index = n + i; break;
    case PrmtMode::b4e: index = n - i; break;
    case PrmtMode::rc8: index = n; break;
    case PrmtMode::ecl: index = i > n ? i : n; break;
    case PrmtMode::ecr: index = i < n ? i : n; break;
    case PrmtMode::rc16: index = 2 * (n & 1U) + (i & 1U); break;
    }
    result |= byte_of(bytes, index) << (8 * i);
  }
  return result;
}

template <class T> constexpr T extract_field(T a, std::uint32_t b, std::uint32_t c) {
  using U = std::make_unsigned_t<T>;
  constexpr std::uint32_t width = 8 * sizeof(T);
  const std::uint32_t position = b & 0xFFU;
  const std::uint32_t length = c & 0xFFU;
  if (length == 0)
    return 0;
  bool sign = false;
  if constexpr (std::is_signed_v<T>) {
    const std::uint32_t last = position + length - 1;
    sign = ((static_cast<U>(a) >> (last < width ? last : width - 1)) & 1U) != 0;
  }
  const U field = position >= width ? U{0} : static_cast<U>(static_cast<U>(a) >> position);
  const std::uint32_t have = position >= width ? 0 : width - position;
  const std::uint32_t kept = length < have ? length : have;
  const U mask = kept >= width ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << kept) - 1);
  return static_cast<T>((field & mask) | (sign ? static_cast<U>(~mask) : U{0}));
}

template <class T> constexpr T insert_field(T a, T b, std::uint32_t c, std::uint32_t d) {
  constexpr std::uint32_t width = 8 * sizeof(T);
  const std::uint32_t position = c & 0xFFU;
  const std::uint32_t length = d & 0xFFU;
  if (position >= width)
    return b;
  const T ones = length >= width ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << position);
  return static_cast<T>((b & ~mask) | ((a << position) & mask));
}

// Position of the highest bit that differs from the sign; all ones when there is none.
template <class T, bool ShiftAmount> constexpr std::uint32_t find_leading_bit(T a) {
  using U = std::make_unsigned_t<T>;
  constexpr std::uint32_t width = 8 * sizeof(T);
  auto bits = static_cast<U>(a);
  if constexpr (std::is_signed_v<T>)
    if (a < 0)
      bits = static_cast<U>(~bits);
  if (bits == 0)
    return 0xFFFFFFFFU;
  const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
  return ShiftAmount ? zeros : width - 1 - zeros;
}

template <bool Clamp> constexpr std::uint32_t bit_mask(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t position = a & 31U;
  const std::uint32_t width = b & 31U;
  if (Clamp && a >= 32)
    return 0;
  const std::uint32_t from = 0xFFFFFFFFU << position;
  const bool to_the_top = position + width >= 32 || (Clamp && b >= 32);
  return to_the_top ? from : from & ~(0xFFFFFFFFU << (position + width));
}

template <bool Signed, bool Clamp>
constexpr std::uint32_t extend(std::uint32_t a, std::uint32_t count) {
  const std::uint32_t width = count & 31U;
  if (Clamp && count >= 32)
    return a;
  const std::uint32_t mask = 0xFFFFFFFFU << width;
  const bool sign = Signed && width != 0 && ((a >> (width - 1)) & 1U) != 0;
  return (a & ~mask) | (sign ? mask : 0U);
}

template <class T> constexpr T reverse(T a) {
  constexpr T ones = static_cast<T>(~T{0});
  constexpr T bytes = ones / 0xFFU; // 0x0101...
  const auto exchange = [&a](T lower, unsigned distance) {
    a = static_cast<T>((a >> distance & lower) | (a & lower) << distance);
  };
  exchange(static_cast<T>(bytes * 0x55U), 1);
  exchange(static_cast<T>(bytes * 0x33U), 2);
  exchange(static_cast<T>(bytes * 0x0FU), 4);
  exchange(static_cast<T>(ones / 0x101U), 8); // 0x00FF...
  if constexpr (sizeof(T) == 8)
    exchange(static_cast<T>(ones / 0x10001U), 16);
  constexpr unsigned half = 4 * sizeof(T);
  return static_cast<T>(a >> half | a << half);
}
template <class T> constexpr std::uint32_t count_leading_zeros(T a) {
  return static_cast<std::uint32_t>(std::countl_zero(a));
}
template <class T> constexpr std::uint32_t count_ones(T a) {
  return static_cast<std::uint32_t>(std::popcount(a));
}

// The |offset|-th set bit at or beyond `base`, upwards or downwards; all ones when there is none.
constexpr std::uint32_t find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  constexpr std::uint32_t not_found = 0xFFFFFFFFU;
  if (base >= 32)
    return not_found;
  if (offset == 0)
    return (mask >> base & 1U) != 0 ? base : not_found;
  std::int64_t left = offset > 0 ? std::int64_t{offset} : -std::int64_t{offset};
  const int step = offset > 0 ? 1 : -1;
  for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step)
    if ((mask >> position & 1U) != 0 && --left == 0)
      return static_cast<std::uint32_t>(position);
  return not_found;
}

} // namespace kernevo::vgpu::semantics
