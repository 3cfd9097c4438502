// cvt: finds the conversion, and adapts slots of other sizes than the types named.
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/ops/move.h"
#include "kernevo/vgpu/semantics/convert.h"

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Operand;
using ptx::Type;
namespace sem = semantics;

Type unsigned_type(int bits) {
  return bits == 8 ? Type::u8 : bits == 16 ? Type::u16 : bits == 32 ? Type::u32 : Type::u64;
}

void emit_step(Lowering& lowering, Handler handler, std::uint32_t d, std::uint32_t a,
               std::uint32_t b = kNone) {
  Op& op = lowering.emit(handler);
  op.d = d;
  op.a = a;
  op.b = b;
}

// The operand as a slot of exactly the type's size: the low bits of a wider register.
Result<std::uint32_t> read_operand(Lowering& lowering, const Instruction& instruction,
                                   const Operand& operand, Type type) {
  const Type declared = lowering.register_type(operand);
  const int bits = ptx::bits_of(type);
  if (declared == Type::none || ptx::bits_of(declared) == bits)
    return lowering.source(instruction, operand, type);
  const Handler narrow = resize_handler(unsigned_type(bits), unsigned_type(ptx::bits_of(declared)));
  if (narrow == nullptr)
    return unknown_form(lowering, instruction);
  KERNEVO_TRY(wide, lowering.source(instruction, operand, declared));
  const std::uint32_t slot = lowering.temporary(static_cast<std::uint32_t>(bits) / 8);
  emit_step(lowering, narrow, slot, wide);
  return slot;
}

// Where the result goes: the register, or a slot that widen() copies into a wider register.
struct Target {
  std::uint32_t slot = kNone;
  std::uint32_t wide = kNone;
  Handler widen = nullptr;
};
Result<Target> write_operand(Lowering& lowering, const Instruction& instruction,
                             const Operand& operand, Type type) {
  const Type declared = lowering.register_type(operand);
  const int bits = ptx::bits_of(type);
  Target target;
  if (declared == Type::none || ptx::bits_of(declared) == bits) {
    KERNEVO_TRY(slot, lowering.destination(instruction, operand, type));
    target.slot = slot;
    return target;
  }
  target.widen = resize_handler(unsigned_type(ptx::bits_of(declared)),
                                ptx::is_signed(type) ? type : unsigned_type(bits));
  if (target.widen == nullptr)
    return unknown_form(lowering, instruction);
  KERNEVO_TRY(wide, lowering.destination(instruction, operand, declared));
  target.wide = wide;
  target.slot = lowering.temporary(static_cast<std::uint32_t>(bits) / 8);
  return target;
}

Handler saturation(Type type) {
  switch (type) {
  case Type::f16: return lanes_of<&sem::saturate_float<sem::F16>>();
  case Type::bf16: return lanes_of<&sem::saturate_float<sem::Bf16>>();
  case Type::f32: return lanes_of<&sem::saturate_float<sem::F32>>();
  case Type::f64: return lanes_of<&sem::saturate_float<sem::F64>>();
  default: return nullptr;
  }
}

bool is_scalar(Type type) {
  switch (type) {
  case Type::f16x2:
  case Type::bf16x2:
  case Type::tf32:
  case Type::e4m3x2:
  case Type::e5m2x2:
  case Type::ue8m0x2: return false;
  default: return true;
  }
}

Result<void> lower_packed(Lowering& lowering, const Instruction& instruction, Type to, Type from) {
  const Handler handler = packed_conversion(instruction, to, from);
  if (handler == nullptr)
    return unknown_form(lowering, instruction);
  KERNEVO_TRY(a, read_operand(lowering, instruction, instruction.operands[1], from));
  std::uint32_t b = kNone;
  if (instruction.operands.size() > 2) {
    KERNEVO_TRY(second, read_operand(lowering, instruction, instruction.operands[2], from));
    b = second;
  }
  KERNEVO_TRY(target, write_operand(lowering, instruction, instruction.operands[0], to));
  emit_step(lowering, handler, target.slot, a, b);
  if (target.widen != nullptr)
    emit_step(lowering, target.widen, target.wide, target.slot);
  return {};
}

} // namespace

Result<void> lower_cvt(Lowering& lowering, const Instruction& instruction) {
  KERNEVO_CHECK(need_operands(lowering, instruction, 2));
  if (instruction.types.size() != 2)
    return unknown_form(lowering, instruction);
  const Type to = instruction.types[0];
  const Type from = instruction.types[1];
  if (!is_scalar(to) || !is_scalar(from))
    return lower_packed(lowering, instruction, to, from);

  const Handler handler = scalar_conversion(instruction, to, from);
  if (handler == nullptr)
    return unknown_form(lowering, instruction);
  KERNEVO_TRY(source, read_operand(lowering, instruction, instruction.operands[1], from));
  KERNEVO_TRY(target, write_operand(lowering, instruction, instruction.operands[0], to));
  const bool ftz = instruction.has(Mod::ftz);
  std::uint32_t input = source;
  if (ftz && from == Type::f32) {
    input = lowering.temporary(sizeof(float));
    emit_step(lowering, lanes_of<&sem::flush_f32>(), input, source);
  }
  emit_step(lowering, handler, target.slot, input);
  if (ftz && to == Type::f32 && from != Type::f32)
    emit_step(lowering, lanes_of<&sem::flush_f32>(), target.slot, target.slot);
  // An integer result is clamped to its type in any case.
  if (instruction.has(Mod::sat) && ptx::is_float(to))
    emit_step(lowering, saturation(to), target.slot, target.slot);
  if (target.widen != nullptr)
    emit_step(lowering, target.widen, target.wide, target.slot);
  return {};
}

Result<void> lower_cvt_pack(Lowering& lowering, const Instruction& instruction) {
  Handler handler = nullptr;
  switch (instruction.type()) {
  case Type::u16: handler = lanes_of<&sem::pack_sat_16<false>>(); break;
  case Type::s16: handler = lanes_of<&sem::pack_sat_16<true>>(); break;
  case Type::u8: handler = lanes_of<&sem::pack_sat<8, false>>(); break;
  case Type::s8: handler = lanes_of<&sem::pack_sat<8, true>>(); break;
  case Type::u4: handler = lanes_of<&sem::pack_sat<4, false>>(); break;
  case Type::s4: handler = lanes_of<&sem::pack_sat<4, true>>(); break;
  default: break;
  }
  if (ptx::bits_of(instruction.type()) == 16)
    return emit_binary(lowering, instruction, handler, Type::b32, Type::s32, Type::s32);
  return emit_ternary(lowering, instruction, handler, Type::b32, Type::s32, Type::s32, Type::b32);
}

} // namespace kernevo::vgpu::ops
