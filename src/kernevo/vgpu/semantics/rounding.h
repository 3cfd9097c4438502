// The four rounding modes of PTX and the step from the nearest number to the one a mode asks for.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace kernevo::vgpu::semantics {

enum class Rounding : std::uint8_t { rn, rz, rm, rp };

template <class T> constexpr int sign_of(T value) {
  return (value > 0) - (value < 0);
}

// `nearest` is the exact value rounded to nearest, `side` the sign of (exact - nearest), both in
// sign-magnitude form. Returns what the mode makes of the exact value.
template <class Bits> constexpr Bits redirect(Bits nearest, int side, Rounding mode) {
  const bool negative = (nearest >> (sizeof(Bits) * 8 - 1)) != 0;
  const bool toward_zero = mode == Rounding::rz;
  const bool up = (side > 0) & ((mode == Rounding::rp) | (toward_zero & negative));
  const bool down = (side < 0) & ((mode == Rounding::rm) | (toward_zero & !negative));
  const auto outward = static_cast<Bits>(nearest + 1);
  const auto inward = static_cast<Bits>(nearest - 1);
  const Bits moved = up != negative ? outward : inward;
  return (up | down) ? moved : nearest;
}

inline float redirect(float nearest, int side, Rounding mode) {
  return std::bit_cast<float>(redirect(std::bit_cast<std::uint32_t>(nearest), side, mode));
}

// x + y rounded and what is missing from it; exact unless the sum overflows.
template <class T> struct ExactSum {
  T sum;
  T error;
};
template <class T> constexpr ExactSum<T> two_sum(T x, T y) {
  const T sum = x + y;
  const T part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}

// The host's rounding mode for the life of this object. The compiler does not know that arithmetic
// depends on it: operands and results must pass through volatile variables.
class HostRounding {
public:
  explicit HostRounding(Rounding mode) : before_(std::fegetround()) {
    std::fesetround(mode == Rounding::rz   ? FE_TOWARDZERO
                    : mode == Rounding::rm ? FE_DOWNWARD
                    : mode == Rounding::rp ? FE_UPWARD
                                           : FE_TONEAREST);
  }
  ~HostRounding() { std::fesetround(before_); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

private:
  int before_;
};

} // namespace kernevo::vgpu::semantics
