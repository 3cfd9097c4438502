// add sub mul mad fma div min max abs neg: which format does the work.
#include "kernevo/vgpu/ops/arithmetic.h"

#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/formats.h"
#include "kernevo/vgpu/semantics/integer.h"

#include <array>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

Handler handler_of(const Instruction& instruction) {
  switch (instruction.type()) {
  case Type::f32:
  case Type::f32x2: return f32_arithmetic(instruction);
  case Type::f64: return f64_arithmetic(instruction);
  case Type::f16:
  case Type::f16x2:
  case Type::bf16:
  case Type::bf16x2: return half_arithmetic(instruction);
  default: return integer_arithmetic(instruction);
  }
}

Type wide_of(Type type) {
  switch (type) {
  case Type::s16: return Type::s32;
  case Type::u16: return Type::u32;
  case Type::s32: return Type::s64;
  case Type::u32: return Type::u64;
  default: return Type::none;
  }
}

// add.f32.f16 and the like (sm_100): operands of the second type are widened to f32 first.
Result<void> lower_mixed(Lowering& lowering, const Instruction& instruction, std::size_t narrow) {
  namespace sem = semantics;
  const Type type = instruction.types[1];
  const Handler widen = type == Type::f16    ? lanes_of<&sem::float_to_f32<sem::F16>>()
                        : type == Type::bf16 ? lanes_of<&sem::float_to_f32<sem::Bf16>>()
                                             : nullptr;
  const Handler handler = handler_of(instruction);
  if (widen == nullptr || handler == nullptr)
    return unknown_form(lowering, instruction);
  std::array<std::uint32_t, 3> sources = {kNone, kNone, kNone};
  KERNEVO_CHECK(need_operands(lowering, instruction, narrow + 2));
  for (std::size_t i = 0; i < narrow + 1; ++i) {
    const bool is_narrow = i < narrow;
    KERNEVO_TRY(offset, lowering.source(instruction, instruction.operands[i + 1],
                                        is_narrow ? type : Type::f32));
    sources[i] = offset;
    if (!is_narrow)
      continue;
    sources[i] = lowering.temporary(sizeof(float));
    Op& op = lowering.emit(widen);
    op.d = sources[i];
    op.a = offset;
  }
  KERNEVO_TRY(target, lowering.destination(instruction, instruction.operands[0], Type::f32));
  Op& op = lowering.emit(handler);
  op.d = target;
  op.a = sources[0];
  op.b = sources[1];
  op.c = sources[2];
  return {};
}

bool is_mixed(const Instruction& instruction) {
  return instruction.types.size() == 2 && instruction.types[0] == Type::f32 &&
         instruction.types[1] != Type::f32;
}

Result<void> lower_unary(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  return emit_unary(lowering, instruction, handler_of(instruction), type, type);
}

Result<void> lower_binary(Lowering& lowering, const Instruction& instruction) {
  if (instruction.has(Mod::cc))
    return lower_carry(lowering, instruction);
  if (is_mixed(instruction))
    return lower_mixed(lowering, instruction, 1);
  const Type type = instruction.type();
  const Type result = instruction.has(Mod::wide) ? wide_of(type) : type;
  return emit_binary(lowering, instruction, handler_of(instruction), result, type, type);
}

Result<void> lower_ternary(Lowering& lowering, const Instruction& instruction) {
  if (instruction.has(Mod::cc))
    return lower_carry(lowering, instruction);
  if (is_mixed(instruction))
    return lower_mixed(lowering, instruction, 2);
  const Type type = instruction.type();
  const Type result = instruction.has(Mod::wide) ? wide_of(type) : type;
  return emit_ternary(lowering, instruction, handler_of(instruction), result, type, type, result);
}

// min and max take two operands, or three from sm_100 on.
Result<void> lower_extremum(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Handler handler =
      ptx::is_float(type) ? float_extremum(instruction) : integer_arithmetic(instruction);
  if (instruction.operands.size() < 4)
    return emit_binary(lowering, instruction, handler, type, type, type);
  if (handler == nullptr || type != Type::f32)
    return unknown_form(lowering, instruction);
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], type));
  KERNEVO_TRY(b, lowering.source(instruction, instruction.operands[2], type));
  KERNEVO_TRY(c, lowering.source(instruction, instruction.operands[3], type));
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], type));
  const std::uint32_t inner = lowering.temporary(sizeof(float));
  Op& first = lowering.emit(handler);
  first.d = inner;
  first.a = a;
  first.b = b;
  Op& second = lowering.emit(handler);
  second.d = d;
  second.a = inner;
  second.b = c;
  return {};
}

template <class T> Handler integer_form(const Instruction& instruction) {
  namespace sem = semantics;
  const bool high = instruction.has(Mod::hi);
  switch (instruction.opcode) {
  case Opcode::add: return lanes_of<&sem::add<T>>();
  case Opcode::sub: return lanes_of<&sem::sub<T>>();
  case Opcode::mul:
    if constexpr (sizeof(T) < 8)
      if (instruction.has(Mod::wide))
        return lanes_of<&sem::mul_wide<T>>();
    return high ? lanes_of<&sem::mul_hi<T>>() : lanes_of<&sem::mul_lo<T>>();
  case Opcode::mad:
    if constexpr (sizeof(T) < 8)
      if (instruction.has(Mod::wide))
        return lanes_of<&sem::mad_wide<T>>();
    return high ? lanes_of<&sem::mad_hi<T>>() : lanes_of<&sem::mad_lo<T>>();
  case Opcode::div_: return lanes_of<&sem::divide<T>>();
  case Opcode::min_: return lanes_of<&sem::minimum<T>>();
  case Opcode::max_: return lanes_of<&sem::maximum<T>>();
  case Opcode::neg: return lanes_of<&sem::negate<T>>();
  case Opcode::abs_:
    if constexpr (std::is_signed_v<T>)
      return lanes_of<&sem::absolute<T>>();
    return nullptr;
  default: return nullptr;
  }
}

Handler packed_form(const Instruction& instruction) {
  namespace sem = semantics;
  const bool is_signed = instruction.type() == Type::s16x2;
  const bool relu = instruction.has(Mod::relu);
  switch (instruction.opcode) {
  case Opcode::add: return lanes_of<&sem::halves_binary<&sem::add<std::uint16_t>>>();
  case Opcode::sub: return lanes_of<&sem::halves_binary<&sem::sub<std::uint16_t>>>();
  case Opcode::min_:
    if (!is_signed)
      return lanes_of<&sem::halves_binary<&sem::minimum<std::uint16_t>>>();
    return relu ? lanes_of<&sem::halves_binary<&sem::extremum_s16<false, true>>>()
                : lanes_of<&sem::halves_binary<&sem::extremum_s16<false, false>>>();
  case Opcode::max_:
    if (!is_signed)
      return lanes_of<&sem::halves_binary<&sem::maximum<std::uint16_t>>>();
    return relu ? lanes_of<&sem::halves_binary<&sem::extremum_s16<true, true>>>()
                : lanes_of<&sem::halves_binary<&sem::extremum_s16<true, false>>>();
  default: return nullptr;
  }
}

// .sat and .relu exist for s32 only.
Handler saturating_form(const Instruction& instruction) {
  namespace sem = semantics;
  if (instruction.type() != Type::s32)
    return nullptr;
  switch (instruction.opcode) {
  case Opcode::add: return lanes_of<&sem::add_sat>();
  case Opcode::sub: return lanes_of<&sem::sub_sat>();
  case Opcode::mad: return instruction.has(Mod::hi) ? lanes_of<&sem::mad_hi_sat>() : nullptr;
  case Opcode::min_: return lanes_of<&sem::min_relu>();
  case Opcode::max_: return lanes_of<&sem::max_relu>();
  default: return nullptr;
  }
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::add, lower_binary},    FamilyEntry{Opcode::sub, lower_binary},
    FamilyEntry{Opcode::mul, lower_binary},    FamilyEntry{Opcode::div_, lower_binary},
    FamilyEntry{Opcode::mad, lower_ternary},   FamilyEntry{Opcode::fma_, lower_ternary},
    FamilyEntry{Opcode::min_, lower_extremum}, FamilyEntry{Opcode::max_, lower_extremum},
    FamilyEntry{Opcode::abs_, lower_unary},    FamilyEntry{Opcode::neg, lower_unary},
};

} // namespace

Handler integer_arithmetic(const Instruction& instruction) {
  const Type type = instruction.type();
  if (type == Type::s16x2 || type == Type::u16x2)
    return packed_form(instruction);
  if (instruction.has(Mod::sat) || instruction.has(Mod::relu))
    return saturating_form(instruction);
  return with_integer(
      type, [&](auto tag) { return integer_form<typename decltype(tag)::Type>(instruction); });
}

std::span<const FamilyEntry> arithmetic_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
