#include "kernevo/vgpu/analysis/shape_algebra.h"

#include <algorithm>

namespace kernevo::vgpu::analysis {
namespace {

std::int64_t wrapped(std::uint64_t value, int bits) {
  return static_cast<std::int64_t>(sign_extend(value, bits));
}

std::uint64_t alignment_product(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0)
    return 0;
  const int power = std::countr_zero(a) + std::countr_zero(b);
  return std::uint64_t{1} << std::min(power, 63);
}

std::uint64_t apply(Bitwise operation, std::uint64_t a, std::uint64_t b) {
  switch (operation) {
  case Bitwise::and_: return a & b;
  case Bitwise::or_: return a | b;
  case Bitwise::xor_: return a ^ b;
  }
  return 0;
}

std::uint64_t apply_to_alignment(Bitwise operation, std::uint64_t a, std::uint64_t b) {
  if (operation != Bitwise::and_)
    return common_alignment(a, b);
  return a == 0 || b == 0 ? 0 : std::max(a, b);
}

// The constant meets only bits that are the same in every lane: those below what divides base and
// stride, which are zero, or all but those.
std::optional<Shape> bitwise_below(Bitwise operation, const Shape& a, std::uint64_t constant,
                                   int bits) {
  const std::uint64_t divisor =
      common_alignment(a.alignment, alignment_of(static_cast<std::uint64_t>(a.stride)));
  const std::uint64_t zeros = divisor == 0 ? low_mask(bits) : (divisor - 1) & low_mask(bits);
  if ((constant & ~zeros) == 0) {
    if (operation == Bitwise::and_)
      return Shape::uniform(0);
    return add(a, Shape::uniform(alignment_of(constant)), bits);
  }
  if (operation == Bitwise::and_ && ((~constant & low_mask(bits)) & ~zeros) == 0)
    return a;
  return std::nullopt;
}

} // namespace

Shape meet(const Shape& a, const Shape& b) {
  if (a.kind == Shape::Kind::unset)
    return b;
  if (b.kind == Shape::Kind::unset)
    return a;
  if (a.is_varying() || b.is_varying() || a.stride != b.stride)
    return Shape::varying();
  const int group = std::min(a.group, b.group);
  Shape result = regroup(a, group);
  result.alignment = common_alignment(result.alignment, regroup(b, group).alignment);
  return result;
}

Shape regroup(const Shape& a, int group) {
  Shape result = a;
  if (group >= a.group)
    return result;
  result.group = static_cast<std::uint8_t>(group);
  const std::uint64_t step = static_cast<std::uint64_t>(a.stride) * static_cast<unsigned>(group);
  result.alignment = common_alignment(a.alignment, alignment_of(step));
  return result;
}

Shape add(const Shape& a, const Shape& b, int bits) {
  const int group = std::min(a.group, b.group);
  Shape result = regroup(a, group);
  result.stride =
      wrapped(static_cast<std::uint64_t>(a.stride) + static_cast<std::uint64_t>(b.stride), bits);
  result.alignment = common_alignment(result.alignment, regroup(b, group).alignment);
  return result;
}

Shape scale(const Shape& a, std::uint64_t factor, int bits) {
  Shape result = a;
  result.stride = wrapped(static_cast<std::uint64_t>(a.stride) * factor, bits);
  result.alignment = alignment_product(a.alignment, alignment_of(factor));
  return result;
}

Shape multiply(const Shape& a, const Shape& b) {
  if (a.stride != 0 || b.stride != 0)
    return Shape::varying();
  Shape result = a;
  result.group = std::min(a.group, b.group);
  result.alignment = alignment_product(a.alignment, b.alignment);
  return result;
}

Shape bitwise(Bitwise operation, const BitwiseSource& a, const BitwiseSource& b, int bits) {
  if (a.constant && b.constant)
    return Shape::uniform(alignment_of(apply(operation, *a.constant, *b.constant)));
  if (b.constant)
    if (const auto found = bitwise_below(operation, a.shape, *b.constant, bits))
      return *found;
  if (a.constant)
    if (const auto found = bitwise_below(operation, b.shape, *a.constant, bits))
      return *found;
  auto attempt = [&](int group) {
    const Shape x = regroup(a.shape, group);
    const Shape y = regroup(b.shape, group);
    Shape result = x;
    result.alignment = apply_to_alignment(operation, x.alignment, y.alignment);
    if (x.stride == 0 && y.stride == 0)
      return result;
    // Below `shared` both are stride * position, or the constant; above, the same in all lanes.
    const std::uint64_t shared = a.constant   ? y.alignment
                                 : b.constant ? x.alignment
                                              : common_alignment(x.alignment, y.alignment);
    const std::uint64_t below = shared == 0 ? low_mask(bits) : (shared - 1) & low_mask(bits);
    auto stays_below = [&](const Shape& shape) {
      return shape.stride >= 0 &&
             static_cast<std::uint64_t>(shape.stride) <= below / static_cast<unsigned>(group - 1);
    };
    if (!stays_below(x) || !stays_below(y))
      return Shape::varying();
    auto part = [&](const BitwiseSource& source, const Shape& shape, int i) {
      return source.constant ? *source.constant & below
                             : static_cast<std::uint64_t>(shape.stride) * static_cast<unsigned>(i);
    };
    const auto stride =
        find_stride(group, [&](int i) { return apply(operation, part(a, x, i), part(b, y, i)); });
    if (!stride)
      return Shape::varying();
    result.stride = wrapped(*stride, bits);
    return result;
  };
  return first_group_that_fits(std::min(a.shape.group, b.shape.group), attempt);
}

bool lanes_stay_below_base(const Shape& a, int bits) {
  const std::uint64_t below =
      a.alignment == 0 ? low_mask(bits) : (a.alignment - 1) & low_mask(bits);
  return a.stride >= 0 &&
         static_cast<std::uint64_t>(a.stride) <= below / static_cast<unsigned>(a.group - 1);
}

} // namespace kernevo::vgpu::analysis
