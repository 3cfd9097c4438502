// Conversions and moves.
#include "kernevo/jit/emit/arithmetic_writer.h"

#include "kernevo/vgpu/memory/address_windows.h"

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

// A straight source stays straight when widened only if no lane wraps around before.
void ArithmeticWriter::check_widening(const Instruction& at, std::uint32_t instruction) {
  if (!widens_straight(code_, plan_, instruction, job_.facts))
    return;
  const Type from = at.opcode == Opcode::cvt ? at.types[1] : at.type();
  const bool sign = ptx::is_signed(from);
  const auto bits = static_cast<unsigned>(ptx::bits_of(from));
  Value* fine = b_.getTrue();
  for (std::size_t i = 1; i < at.operands.size() && i < 3; ++i) {
    const auto source = shape(at.operands[i]);
    if (!source.is_straight() || source.stride == 0)
      continue;
    for (unsigned group = 0; group < static_cast<unsigned>(source.groups()); ++group) {
      Value* base = operand_as_declared(at.operands[i], from, source.group, group);
      const auto reach = static_cast<std::uint64_t>(source.stride * (source.group - 1));
      auto widen = [&](Value* value) {
        value = b_.CreateTrunc(value, b_.getIntNTy(bits));
        return sign ? b_.CreateSExt(value, b_.getInt64Ty()) : b_.CreateZExt(value, b_.getInt64Ty());
      };
      Value* last = b_.CreateAdd(base, llvm::ConstantInt::get(base->getType(), reach));
      fine =
          b_.CreateAnd(fine, b_.CreateICmpEQ(widen(last), b_.CreateAdd(widen(base), i64(reach))));
    }
  }
  leave_unless(fine, instruction);
}

// An operand of cvt, whose register may be wider than the type it is read as; not yet cut.
Value* ArithmeticWriter::operand_as_declared(const Operand& operand, Type type, unsigned group,
                                             unsigned index) {
  Type declared = type;
  if (operand.kind == Operand::Kind::reg)
    declared = source_.registers[operand.reg].type;
  Value* value = first_lane(operand, declared, group, index);
  return as(value, b_.getIntNTy(static_cast<unsigned>(value->getType()->getScalarSizeInBits())));
}

void ArithmeticWriter::emit_cvt(const Instruction& at, std::uint32_t instruction) {
  const Type to = at.types[0];
  const Type from = at.types[1];
  const Operand& operand = at.operands[1];
  const ptx::RegisterId result = at.operands[0].reg;
  check_widening(at, instruction);
  const Type declared =
      operand.kind == Operand::Kind::reg ? source_.registers[operand.reg].type : from;
  auto* target = element(source_.registers[result].type);
  const auto target_bits = static_cast<unsigned>(target->getPrimitiveSizeInBits());
  auto of = [&](Value* value, unsigned bits) -> llvm::Type* {
    llvm::Type* type = b_.getIntNTy(bits);
    return value->getType()->isVectorTy() ? lanes_of(type) : type;
  };
  compute(result, {&operand}, {declared}, [&](const Operands& x) -> Value* {
    Value* value =
        as(x[0], b_.getIntNTy(static_cast<unsigned>(x[0]->getType()->getScalarSizeInBits())));
    const auto from_bits = static_cast<unsigned>(ptx::bits_of(from));
    if (value->getType()->getScalarSizeInBits() > from_bits)
      value = b_.CreateTrunc(value, of(value, from_bits));
    if (is_real(to)) {
      llvm::Type* real = value->getType()->isVectorTy()
                             ? static_cast<llvm::Type*>(lanes_of(element(to)))
                             : element(to);
      return ptx::is_signed(from) ? b_.CreateSIToFP(value, real) : b_.CreateUIToFP(value, real);
    }
    const auto to_bits = static_cast<unsigned>(ptx::bits_of(to));
    if (to_bits > from_bits)
      value = ptx::is_signed(from) ? b_.CreateSExt(value, of(value, to_bits))
                                   : b_.CreateZExt(value, of(value, to_bits));
    else if (to_bits < from_bits)
      value = b_.CreateTrunc(value, of(value, to_bits));
    if (target_bits > to_bits)
      value = ptx::is_signed(to) ? b_.CreateSExt(value, of(value, target_bits))
                                 : b_.CreateZExt(value, of(value, target_bits));
    return value;
  });
}

void ArithmeticWriter::emit_cvta(const Instruction& at) {
  const std::uint64_t window = vgpu::window_base(at.space);
  compute(at.operands[0].reg, {&at.operands[1]}, {Type::u64}, [&](const Operands& x) {
    auto* base = llvm::ConstantInt::get(x[0]->getType(), window);
    return at.has(Mod::to) ? b_.CreateSub(x[0], base) : b_.CreateAdd(x[0], base);
  });
}

void ArithmeticWriter::emit_mov(const Instruction& at) {
  const Operand& to = at.operands[0];
  const Operand& from = at.operands[1];
  const Type type = at.type();
  if (type == Type::pred) {
    write_predicate(to, is_flag(from) ? flag(from) : mask(from));
    return;
  }
  if (to.kind == Operand::Kind::vector) {
    unsigned offset = 0;
    const auto parts = static_cast<unsigned>(to.elements.size());
    const unsigned bits = static_cast<unsigned>(ptx::bits_of(type)) / parts;
    for (const Operand& part : to.elements) {
      if (part.kind == Operand::Kind::reg)
        compute(part.reg, {&from}, {source_.registers[from.reg].type},
                [&](const Operands& x) -> Value* {
                  Value* whole = as(x[0], b_.getIntNTy(x[0]->getType()->getScalarSizeInBits()));
                  whole = b_.CreateLShr(whole, llvm::ConstantInt::get(whole->getType(), offset));
                  llvm::Type* narrow = b_.getIntNTy(bits);
                  if (whole->getType()->isVectorTy())
                    narrow = lanes_of(narrow);
                  return b_.CreateTrunc(whole, narrow);
                });
      offset += bits;
    }
    return;
  }
  if (from.kind == Operand::Kind::vector) {
    std::vector<const Operand*> parts;
    std::vector<Type> types;
    for (const Operand& part : from.elements) {
      parts.push_back(&part);
      types.push_back(source_.registers[part.reg].type);
    }
    llvm::Type* wide = b_.getIntNTy(static_cast<unsigned>(ptx::bits_of(type)));
    compute(to.reg, parts, types, [&](const Operands& x) -> Value* {
      Value* whole = nullptr;
      unsigned offset = 0;
      for (Value* part : x) {
        const unsigned bits = part->getType()->getScalarSizeInBits();
        Value* piece = as(part, b_.getIntNTy(bits));
        llvm::Type* target =
            piece->getType()->isVectorTy() ? static_cast<llvm::Type*>(lanes_of(wide)) : wide;
        piece = b_.CreateZExt(piece, target);
        piece = b_.CreateShl(piece, llvm::ConstantInt::get(target, offset));
        whole = whole == nullptr ? piece : b_.CreateOr(whole, piece);
        offset += bits;
      }
      return whole;
    });
    return;
  }
  raw_nan_ = canonical_later_[to.reg];
  compute(to.reg, {&from}, {type}, [&](const Operands& x) { return x[0]; });
  raw_nan_ = Type::none;
}

} // namespace kernevo::jit
