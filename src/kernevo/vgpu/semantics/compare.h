// Comparisons and classification of PTX on one lane.
#pragma once

#include "kernevo/vgpu/semantics/float.h"
#include "kernevo/vgpu/semantics/half.h"

#include <cmath>
#include <cstdint>

namespace kernevo::vgpu::semantics {

enum class Comparison : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu, // also true when an operand is NaN
  num,
  nan,
};

template <Comparison C, class T> constexpr bool compare(T a, T b) {
  const bool unordered = a != a || b != b; // never for integers
  switch (C) {
  case Comparison::eq: return a == b;
  case Comparison::ne: return a != b && !unordered;
  case Comparison::lt: return a < b;
  case Comparison::le: return a <= b;
  case Comparison::gt: return a > b;
  case Comparison::ge: return a >= b;
  case Comparison::equ: return !(a < b || a > b);
  case Comparison::neu: return a != b;
  case Comparison::ltu: return !(a >= b);
  case Comparison::leu: return !(a > b);
  case Comparison::gtu: return !(a <= b);
  case Comparison::geu: return !(a < b);
  case Comparison::num: return !unordered;
  case Comparison::nan: return unordered;
  }
  return false;
}

template <Comparison C, bool Ftz> constexpr bool compare_f32(float a, float b) {
  return compare<C>(flush_if<Ftz>(a), flush_if<Ftz>(b));
}
template <Comparison C, class Format, bool Ftz>
bool compare_half(std::uint16_t a, std::uint16_t b) {
  return compare<C>(Format::widen(Ftz ? flush_half<Format>(a) : a),
                    Format::widen(Ftz ? flush_half<Format>(b) : b));
}

enum class Property : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

// Zero counts as normal.
template <Property P, class T> bool has_property(T a) {
  switch (P) {
  case Property::finite: return std::isfinite(a);
  case Property::infinite: return std::isinf(a);
  case Property::number: return !std::isnan(a);
  case Property::notanumber: return std::isnan(a);
  case Property::normal: return std::isnormal(a) || a == 0;
  case Property::subnormal: return std::fpclassify(a) == FP_SUBNORMAL;
  }
  return false;
}

} // namespace kernevo::vgpu::semantics
