#include "kernevo/vgpu/ops/emit.h"

#include <fmt/format.h>

namespace kernevo::vgpu::ops {

Result<void> need_operands(Lowering& lowering, const ptx::Instruction& instruction,
                           std::size_t count) {
  if (instruction.operands.size() >= count)
    return {};
  return tl::unexpected<Error>(
      lowering.unsupported(instruction, fmt::format("{} operands are too few, {} are needed",
                                                    instruction.operands.size(), count)));
}

tl::unexpected<Error> unknown_form(Lowering& lowering, const ptx::Instruction& instruction) {
  return tl::unexpected<Error>(lowering.unsupported(
      instruction, "this combination of types and modifiers is not supported"));
}

Result<void> emit_unary(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                        ptx::Type d, ptx::Type a) {
  if (handler == nullptr)
    return unknown_form(lowering, instruction);
  KERNEVO_CHECK(need_operands(lowering, instruction, 2));
  KERNEVO_TRY(source_a, lowering.source(instruction, instruction.operands[1], a));
  KERNEVO_TRY(target, lowering.destination(instruction, instruction.operands[0], d));
  Op& op = lowering.emit(handler);
  op.d = target;
  op.a = source_a;
  return {};
}

Result<void> emit_binary(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                         ptx::Type d, ptx::Type a, ptx::Type b) {
  if (handler == nullptr)
    return unknown_form(lowering, instruction);
  KERNEVO_CHECK(need_operands(lowering, instruction, 3));
  KERNEVO_TRY(source_a, lowering.source(instruction, instruction.operands[1], a));
  KERNEVO_TRY(source_b, lowering.source(instruction, instruction.operands[2], b));
  KERNEVO_TRY(target, lowering.destination(instruction, instruction.operands[0], d));
  Op& op = lowering.emit(handler);
  op.d = target;
  op.a = source_a;
  op.b = source_b;
  return {};
}

Result<void> emit_ternary(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                          ptx::Type d, ptx::Type a, ptx::Type b, ptx::Type c) {
  if (handler == nullptr)
    return unknown_form(lowering, instruction);
  KERNEVO_CHECK(need_operands(lowering, instruction, 4));
  KERNEVO_TRY(source_a, lowering.source(instruction, instruction.operands[1], a));
  KERNEVO_TRY(source_b, lowering.source(instruction, instruction.operands[2], b));
  KERNEVO_TRY(source_c, lowering.source(instruction, instruction.operands[3], c));
  KERNEVO_TRY(target, lowering.destination(instruction, instruction.operands[0], d));
  Op& op = lowering.emit(handler);
  op.d = target;
  op.a = source_a;
  op.b = source_b;
  op.c = source_c;
  return {};
}

semantics::Rounding rounding_of(const ptx::Instruction& instruction) {
  using ptx::Mod;
  using semantics::Rounding;
  for (const Mod modifier : instruction.modifiers) {
    if (modifier == Mod::rz || modifier == Mod::rzi)
      return Rounding::rz;
    if (modifier == Mod::rm || modifier == Mod::rmi)
      return Rounding::rm;
    if (modifier == Mod::rp || modifier == Mod::rpi)
      return Rounding::rp;
  }
  return Rounding::rn;
}

} // namespace kernevo::vgpu::ops
