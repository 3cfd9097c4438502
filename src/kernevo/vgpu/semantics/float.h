// f32 and f64 arithmetic of PTX on one lane: every rounding mode, ftz, sat and the NaN rules.
// A NaN result of an f32 operation is 0x7fffffff; f64 keeps what IEEE arithmetic gives.
#pragma once

#include "kernevo/vgpu/semantics/rounding.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace kernevo::vgpu::semantics {

inline constexpr std::uint32_t kCanonicalNan = 0x7FFFFFFFU;
inline constexpr std::uint64_t kCanonicalNan64 = 0x7FFFFFFFFFFFFFFFU;

// A subnormal number becomes zero of the same sign.
constexpr float flush(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return (bits & 0x7F800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : x;
}
template <bool Ftz> constexpr float flush_if(float x) {
  return Ftz ? flush(x) : x;
}
template <bool Ftz> constexpr double flush_if(double x) {
  return x;
}

constexpr float canonical(float x) {
  return x != x ? std::bit_cast<float>(kCanonicalNan) : x;
}
constexpr double canonical(double x) {
  return x != x ? std::bit_cast<double>(kCanonicalNan64) : x;
}

// NaN and everything up to -0 become +0.
template <class T> constexpr T saturate(T x) {
  return x > 0 ? (x < 1 ? x : T{1}) : T{0};
}

template <bool Ftz, bool Sat> constexpr float finish(float x) {
  return Sat ? saturate(flush_if<Ftz>(x)) : canonical(flush_if<Ftz>(x));
}

// x + y rounded once to f32. Where something is not finite the differences are NaN, which has no
// sign, so that nothing is redirected.
template <Rounding Mode> float sum_to_f32(double x, double y) {
  const ExactSum<double> exact = two_sum(x, y);
  const auto nearest = static_cast<float>(exact.sum);
  const double distance = exact.sum - static_cast<double>(nearest);
  const float result = redirect(nearest, sign_of(distance != 0 ? distance : exact.error), Mode);
  if constexpr (Mode == Rounding::rm) { // a zero is negative unless both operands are +0
    const bool positive = (std::bit_cast<std::uint64_t>(x) | std::bit_cast<std::uint64_t>(y)) == 0;
    return exact.sum == 0 && !positive ? -0.0F : result;
  }
  return result;
}

template <Rounding Mode, bool Ftz, bool Sat> float add_f32(float a, float b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  if constexpr (Mode == Rounding::rn)
    return finish<Ftz, Sat>(a + b);
  else
    return finish<Ftz, Sat>(sum_to_f32<Mode>(a, b));
}
template <Rounding Mode, bool Ftz, bool Sat> float sub_f32(float a, float b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  if constexpr (Mode == Rounding::rn)
    return finish<Ftz, Sat>(a - b);
  else
    return finish<Ftz, Sat>(sum_to_f32<Mode>(a, -static_cast<double>(b)));
}
template <Rounding Mode, bool Ftz, bool Sat> float mul_f32(float a, float b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  if constexpr (Mode == Rounding::rn) {
    return finish<Ftz, Sat>(a * b);
  } else {
    const double exact = static_cast<double>(a) * static_cast<double>(b);
    const auto nearest = static_cast<float>(exact);
    const int side = sign_of(exact - static_cast<double>(nearest));
    return finish<Ftz, Sat>(redirect(nearest, side, Mode));
  }
}
template <Rounding Mode, bool Ftz, bool Sat> float fma_f32(float a, float b, float c) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  c = flush_if<Ftz>(c);
  if constexpr (Mode == Rounding::rn) {
    return finish<Ftz, Sat>(std::fma(a, b, c));
  } else {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    return finish<Ftz, Sat>(sum_to_f32<Mode>(product, c));
  }
}
template <Rounding Mode, bool Ftz> float div_f32(float a, float b) {
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  const float nearest = a / b;
  if constexpr (Mode == Rounding::rn) {
    return finish<Ftz, false>(nearest);
  } else {
    // Only the sign of the remainder matters. It is NaN, and nothing is redirected, where an
    // operand is not finite or b is zero; after an overflow it is infinite with the right sign.
    const double remainder =
        std::fma(-static_cast<double>(nearest), static_cast<double>(b), static_cast<double>(a));
    const int side = b < 0 ? -sign_of(remainder) : sign_of(remainder);
    return finish<Ftz, false>(redirect(nearest, side, Mode));
  }
}
template <Rounding Mode, bool Ftz> float rcp_f32(float a) {
  return div_f32<Mode, Ftz>(1.0F, a);
}
template <Rounding Mode, bool Ftz> float sqrt_f32(float a) {
  a = flush_if<Ftz>(a);
  const float nearest = std::sqrt(a);
  if constexpr (Mode == Rounding::rn)
    return finish<Ftz, false>(nearest);
  const double root = nearest;
  const int side = sign_of(std::fma(-root, root, static_cast<double>(a)));
  return finish<Ftz, false>(redirect(nearest, side, Mode));
}

// f64: directed modes are rare, so the host's own rounding mode does the work.
template <Rounding Mode, class Operation>
double with_rounding(Operation operation, double a, double b, double c) {
  if constexpr (Mode == Rounding::rn) {
    return operation(a, b, c);
  } else {
    volatile double x = a;
    volatile double y = b;
    volatile double z = c;
    const HostRounding rounding(Mode);
    volatile double result = operation(x, y, z);
    return result;
  }
}
template <Rounding Mode> double add_f64(double a, double b) {
  return with_rounding<Mode>([](double x, double y, double) { return x + y; }, a, b, 0);
}
template <Rounding Mode> double sub_f64(double a, double b) {
  return with_rounding<Mode>([](double x, double y, double) { return x - y; }, a, b, 0);
}
template <Rounding Mode> double mul_f64(double a, double b) {
  return with_rounding<Mode>([](double x, double y, double) { return x * y; }, a, b, 0);
}
template <Rounding Mode> double fma_f64(double a, double b, double c) {
  return with_rounding<Mode>([](double x, double y, double z) { return std::fma(x, y, z); }, a, b,
                             c);
}
template <Rounding Mode> double div_f64(double a, double b) {
  return with_rounding<Mode>([](double x, double y, double) { return x / y; }, a, b, 0);
}
template <Rounding Mode> double rcp_f64(double a) {
  return div_f64<Mode>(1.0, a);
}
template <Rounding Mode> double sqrt_f64(double a) {
  return with_rounding<Mode>([](double x, double, double) { return std::sqrt(x); }, a, 0, 0);
}

template <class T> struct BitsOf;
template <> struct BitsOf<float> {
  using Type = std::uint32_t;
};
template <> struct BitsOf<double> {
  using Type = std::uint64_t;
};

// A NaN operand gives way to the other one unless PropagateNan; -0 is below +0.
template <class T, bool Maximum, bool Ftz, bool PropagateNan, bool XorSign> T extremum(T a, T b) {
  using Bits = typename BitsOf<T>::Type;
  constexpr Bits sign_bit = Bits{1} << (8 * sizeof(T) - 1);
  a = flush_if<Ftz>(a);
  b = flush_if<Ftz>(b);
  const Bits sign = (std::bit_cast<Bits>(a) ^ std::bit_cast<Bits>(b)) & sign_bit;
  if constexpr (XorSign) {
    a = std::bit_cast<T>(std::bit_cast<Bits>(a) & ~sign_bit);
    b = std::bit_cast<T>(std::bit_cast<Bits>(b) & ~sign_bit);
  }
  const Bits x = std::bit_cast<Bits>(a);
  const Bits y = std::bit_cast<Bits>(b);
  const Bits equal = Maximum ? x & y : x | y; // differs from x only for zeros of unlike sign
  const bool first = Maximum ? a > b : a < b;
  T result = a == b ? std::bit_cast<T>(equal) : first ? a : b;
  if (b != b)
    result = a;
  if constexpr (XorSign)
    result = std::bit_cast<T>(std::bit_cast<Bits>(result) | sign);
  const bool is_nan = PropagateNan ? (a != a) | (b != b) : (a != a) & (b != b);
  return is_nan ? std::bit_cast<T>(static_cast<Bits>(~sign_bit)) : result;
}

template <class T, bool Ftz> constexpr T absolute_float(T a) {
  using Bits = typename BitsOf<T>::Type;
  constexpr Bits sign_bit = Bits{1} << (8 * sizeof(T) - 1);
  return std::bit_cast<T>(std::bit_cast<Bits>(flush_if<Ftz>(a)) & ~sign_bit);
}
template <class T, bool Ftz> constexpr T negate_float(T a) {
  using Bits = typename BitsOf<T>::Type;
  constexpr Bits sign_bit = Bits{1} << (8 * sizeof(T) - 1);
  return std::bit_cast<T>(std::bit_cast<Bits>(flush_if<Ftz>(a)) ^ sign_bit);
}
// The magnitude of b with the sign of a.
template <class T> constexpr T copysign_float(T a, T b) {
  using Bits = typename BitsOf<T>::Type;
  constexpr Bits sign_bit = Bits{1} << (8 * sizeof(T) - 1);
  return std::bit_cast<T>((std::bit_cast<Bits>(a) & sign_bit) |
                          (std::bit_cast<Bits>(b) & ~sign_bit));
}

// Two f32 in one 64-bit register.
constexpr float low_f32(std::uint64_t pair) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(pair));
}
constexpr float high_f32(std::uint64_t pair) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(pair >> 32));
}
constexpr std::uint64_t pair_f32(float low, float high) {
  return std::bit_cast<std::uint32_t>(low) |
         static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(high)) << 32;
}
template <auto Function> std::uint64_t f32x2_binary(std::uint64_t a, std::uint64_t b) {
  return pair_f32(Function(low_f32(a), low_f32(b)), Function(high_f32(a), high_f32(b)));
}
template <auto Function>
std::uint64_t f32x2_ternary(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return pair_f32(Function(low_f32(a), low_f32(b), low_f32(c)),
                  Function(high_f32(a), high_f32(b), high_f32(c)));
}

} // namespace kernevo::vgpu::semantics
