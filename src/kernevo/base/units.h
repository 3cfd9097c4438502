// Quantities carry their unit in their type, so that bytes never meet nanoseconds by accident.
#pragma once

#include <compare>
#include <cstdint>

namespace kernevo {

template <class Tag, class Representation> struct Quantity {
  Representation value{};

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator+(Quantity other) const { return {value + other.value}; }
  constexpr Quantity operator-(Quantity other) const { return {value - other.value}; }
  constexpr Quantity operator*(Representation factor) const { return {value * factor}; }
};

using Bytes = Quantity<struct BytesTag, std::uint64_t>;
using Nanoseconds = Quantity<struct NanosecondsTag, double>;
using Flops = Quantity<struct FlopsTag, double>; // a count of operations, not a rate

} // namespace kernevo
