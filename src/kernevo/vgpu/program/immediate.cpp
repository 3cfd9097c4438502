#include "kernevo/vgpu/program/immediate.h"

#include "kernevo/base/small_floats.h"
#include "kernevo/vgpu/program/program.h"

#include <bit>

namespace kernevo::vgpu {

using ptx::Operand;
using ptx::Type;

std::uint64_t immediate_bits(const Operand& operand, Type type) {
  const auto size = type == Type::pred ? 0U : static_cast<std::uint32_t>(ptx::bytes_of(type));
  std::uint64_t bits = operand.bits;
  if (operand.kind != Operand::Kind::integer) {
    const bool single = operand.kind == Operand::Kind::real32;
    const double value = single ? std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))
                                : std::bit_cast<double>(operand.bits);
    if (size == 4 && !single)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    else if (size == 8 && single && type == Type::f64)
      bits = std::bit_cast<std::uint64_t>(value);
    else if (type == Type::f16)
      bits = double_to_half(value);
    else if (type == Type::bf16)
      bits = double_to_bfloat(value);
  } else if (type == Type::f32) {
    bits =
        std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(operand.bits)));
  } else if (type == Type::f64) {
    bits =
        std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(operand.bits)));
  }
  if (size == 0)
    return bits != 0 ? kAllLanes : 0;
  return size < 8 ? bits & ((std::uint64_t{1} << (size * 8)) - 1) : bits;
}

} // namespace kernevo::vgpu
