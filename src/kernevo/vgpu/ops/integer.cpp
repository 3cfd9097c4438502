// Instructions that exist for integers only.
#include "kernevo/vgpu/semantics/integer.h"

#include "kernevo/vgpu/ops/arithmetic.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"

#include <array>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;
namespace sem = semantics;

Result<void> lower_rem(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Handler handler = with_integer(
      type, [](auto tag) { return lanes_of<&sem::remainder<typename decltype(tag)::Type>>(); });
  return emit_binary(lowering, instruction, handler, type, type, type);
}

Result<void> lower_sad(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Handler handler = with_integer(type, [](auto tag) {
    return lanes_of<&sem::sum_of_absolute_difference<typename decltype(tag)::Type>>();
  });
  return emit_ternary(lowering, instruction, handler, type, type, type, type);
}

Result<void> lower_mul24(Lowering& lowering, const Instruction& instruction) {
  const bool high = instruction.has(Mod::hi);
  const Type type = instruction.type();
  Handler handler = nullptr;
  if (type == Type::s32)
    handler =
        high ? lanes_of<&sem::mul24_hi<std::int32_t>>() : lanes_of<&sem::mul24_lo<std::int32_t>>();
  else if (type == Type::u32)
    handler = high ? lanes_of<&sem::mul24_hi<std::uint32_t>>()
                   : lanes_of<&sem::mul24_lo<std::uint32_t>>();
  return emit_binary(lowering, instruction, handler, type, type, type);
}

Result<void> lower_mad24(Lowering& lowering, const Instruction& instruction) {
  const bool high = instruction.has(Mod::hi);
  const Type type = instruction.type();
  Handler handler = nullptr;
  if (type == Type::s32)
    handler = instruction.has(Mod::sat) ? (high ? lanes_of<&sem::mad24_hi_sat>() : nullptr)
              : high                    ? lanes_of<&sem::mad24_hi<std::int32_t>>()
                                        : lanes_of<&sem::mad24_lo<std::int32_t>>();
  else if (type == Type::u32)
    handler = high ? lanes_of<&sem::mad24_hi<std::uint32_t>>()
                   : lanes_of<&sem::mad24_lo<std::uint32_t>>();
  return emit_ternary(lowering, instruction, handler, type, type, type, type);
}

Result<void> lower_dot_product(Lowering& lowering, const Instruction& instruction) {
  if (instruction.types.size() != 2)
    return unknown_form(lowering, instruction);
  const bool four = instruction.opcode == Opcode::dp4a;
  const Handler handler = with_flag(ptx::is_signed(instruction.types[0]), [&](auto a) {
    return with_flag(ptx::is_signed(instruction.types[1]), [&](auto b) -> Handler {
      constexpr bool signed_a = decltype(a)::value;
      constexpr bool signed_b = decltype(b)::value;
      if (four)
        return lanes_of<&sem::dp4a<signed_a, signed_b>>();
      return instruction.has(Mod::hi) ? lanes_of<&sem::dp2a<signed_a, signed_b, true>>()
                                      : lanes_of<&sem::dp2a<signed_a, signed_b, false>>();
    });
  });
  return emit_ternary(lowering, instruction, handler, Type::b32, Type::b32, Type::b32, Type::b32);
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::rem_, lower_rem},
    FamilyEntry{Opcode::sad, lower_sad},
    FamilyEntry{Opcode::addc, lower_carry},
    FamilyEntry{Opcode::subc, lower_carry},
    FamilyEntry{Opcode::madc, lower_carry},
    FamilyEntry{Opcode::mul24, lower_mul24},
    FamilyEntry{Opcode::mad24, lower_mad24},
    FamilyEntry{Opcode::dp4a, lower_dot_product},
    FamilyEntry{Opcode::dp2a, lower_dot_product},
    FamilyEntry{Opcode::vadd2, lower_video},
    FamilyEntry{Opcode::vadd4, lower_video},
    FamilyEntry{Opcode::vsub2, lower_video},
    FamilyEntry{Opcode::vsub4, lower_video},
    FamilyEntry{Opcode::vavrg2, lower_video},
    FamilyEntry{Opcode::vavrg4, lower_video},
    FamilyEntry{Opcode::vabsdiff2, lower_video},
    FamilyEntry{Opcode::vabsdiff4, lower_video},
    FamilyEntry{Opcode::vmin2, lower_video},
    FamilyEntry{Opcode::vmin4, lower_video},
    FamilyEntry{Opcode::vmax2, lower_video},
    FamilyEntry{Opcode::vmax4, lower_video},
    FamilyEntry{Opcode::vset2, lower_video},
    FamilyEntry{Opcode::vset4, lower_video},
    FamilyEntry{Opcode::vadd, lower_scalar_video},
    FamilyEntry{Opcode::vsub, lower_scalar_video},
    FamilyEntry{Opcode::vabsdiff, lower_scalar_video},
    FamilyEntry{Opcode::vmin, lower_scalar_video},
    FamilyEntry{Opcode::vmax, lower_scalar_video},
    FamilyEntry{Opcode::vshl, lower_scalar_video},
    FamilyEntry{Opcode::vshr, lower_scalar_video},
    FamilyEntry{Opcode::vmad, lower_scalar_video},
    FamilyEntry{Opcode::vset, lower_scalar_video},
};

} // namespace

std::span<const FamilyEntry> integer_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
