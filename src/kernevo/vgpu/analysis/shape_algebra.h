// Arithmetic on shapes: the shape of a result from the shapes of what it is made of. Every function
// takes straight shapes, except meet(), and is exact modulo the width given in bits.
#pragma once

#include "kernevo/vgpu/analysis/shapes.h"

#include <bit>
#include <cstdint>
#include <optional>

namespace kernevo::vgpu::analysis {

inline std::uint64_t low_mask(int bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

inline std::uint64_t sign_extend(std::uint64_t value, int bits) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return bits >= 64 ? value : ((value & low_mask(bits)) ^ sign) - sign;
}

// The largest power of two that divides the value; 0 for 0.
inline std::uint64_t alignment_of(std::uint64_t value) {
  return value & (0 - value);
}

// What divides both; 0 is divided by everything.
inline std::uint64_t common_alignment(std::uint64_t a, std::uint64_t b) {
  return a == 0 ? b : b == 0 ? a : a < b ? a : b;
}

// Fits both: where two paths, or two definitions of a register, come together.
Shape meet(const Shape& a, const Shape& b);

// The same values seen as smaller groups of lanes.
Shape regroup(const Shape& a, int group);

Shape add(const Shape& a, const Shape& b, int bits);
Shape scale(const Shape& a, std::uint64_t factor, int bits);
// Of values that differ only between groups; others vary.
Shape multiply(const Shape& a, const Shape& b);

enum class Bitwise : std::uint8_t { and_, or_, xor_ };
struct BitwiseSource {
  Shape shape;
  std::optional<std::uint64_t> constant;
};
Shape bitwise(Bitwise operation, const BitwiseSource& a, const BitwiseSource& b, int bits);

// True when base + stride * position never carries into the bits that the base may have set. All
// lanes of a group then share the upper bits, and the lower ones are stride * position.
bool lanes_stay_below_base(const Shape& a, int bits);

// Group sizes to try, from the shape's own downwards.
template <class Try> Shape first_group_that_fits(int group, Try attempt) {
  for (; group >= 8; group /= 2)
    if (const Shape found = attempt(group); !found.is_varying())
      return found;
  return Shape::varying();
}

// The values of f at the positions of a group as base + stride * position, if they are that.
template <class F> std::optional<std::uint64_t> find_stride(int group, F f) {
  const std::uint64_t stride = f(1) - f(0);
  for (int i = 2; i < group; ++i)
    if (f(i) - f(i - 1) != stride)
      return std::nullopt;
  return stride;
}

// A function that only moves bits: every bit of the result is one of the argument's, or 0. So
// f(x + y) = f(x) + f(y) when x and y have no bit in common.
template <class F> Shape move_bits(const Shape& a, int bits, F f) {
  auto attempt = [&](int group) {
    const Shape r = regroup(a, group);
    if (r.stride != 0 && !lanes_stay_below_base(r, bits))
      return Shape::varying();
    const auto step = static_cast<std::uint64_t>(r.stride);
    const auto stride = find_stride(
        group, [&](int i) { return f(step * static_cast<std::uint64_t>(i) & low_mask(bits)); });
    if (!stride)
      return Shape::varying();
    Shape result = r;
    result.stride = static_cast<std::int64_t>(*stride);
    result.alignment = 0;
    if (r.alignment != 0)
      for (int bit = std::countr_zero(r.alignment); bit < bits; ++bit)
        result.alignment =
            common_alignment(result.alignment, alignment_of(f(std::uint64_t{1} << bit)));
    return result;
  };
  return first_group_that_fits(a.group, attempt);
}

} // namespace kernevo::vgpu::analysis
