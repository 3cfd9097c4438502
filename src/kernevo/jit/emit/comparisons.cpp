// Comparisons, choices and predicates.
#include "kernevo/jit/emit/arithmetic_writer.h"

#include <array>

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

void ArithmeticWriter::emit_setp(const Instruction& at) {
  const Type type = at.type();
  const Operand& destination = at.operands[0];
  const bool pair = destination.kind == Operand::Kind::pair;
  const Operand& first = pair ? destination.elements[0] : destination;
  const bool uniform = is_uniform(at.operands[1]) && is_uniform(at.operands[2]);
  raw_nan_ = type;
  Value* a = uniform ? scalar(at.operands[1], type) : vector(at.operands[1], type);
  Value* b = uniform ? scalar(at.operands[2], type) : vector(at.operands[2], type);
  raw_nan_ = Type::none;
  if (type == Type::f32 && at.has(Mod::ftz)) {
    a = flush(a);
    b = flush(b);
  }
  const bool half = type == Type::f16 || type == Type::bf16;
  Value* truth = half ? compare_halves(at, a, b) : compare(at, a, b);
  if (!uniform)
    truth = mask_of_lanes(truth);
  auto unite = [&](Value* value) -> Value* {
    const bool is_and = at.has(Mod::and_);
    const bool is_or = at.has(Mod::or_);
    const bool is_xor = at.has(Mod::xor_);
    if (!is_and && !is_or && !is_xor)
      return value;
    const Operand& other = at.operands[3];
    Value* with = nullptr;
    if (value->getType()->isIntegerTy(1) && is_flag(other)) {
      with = flag(other);
    } else {
      if (value->getType()->isIntegerTy(1))
        value = mask_of_flag(value);
      with = mask(other);
    }
    return is_and  ? b_.CreateAnd(value, with)
           : is_or ? b_.CreateOr(value, with)
                   : b_.CreateXor(value, with);
  };
  Value* yes = unite(truth);
  Value* no = pair ? unite(b_.CreateNot(truth)) : nullptr;
  write_predicate(first, yes);
  if (pair)
    write_predicate(destination.elements[1], no);
}

Value* ArithmeticWriter::compare(const Instruction& at, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  const bool real = is_real(at.type());
  const bool sign = ptx::is_signed(at.type());
  struct Row {
    Mod mod;
    P integer;
    P natural;
    P floating;
  };
  static constexpr std::array rows = {
      Row{Mod::eq, P::ICMP_EQ, P::ICMP_EQ, P::FCMP_OEQ},
      Row{Mod::ne, P::ICMP_NE, P::ICMP_NE, P::FCMP_ONE},
      Row{Mod::lt, P::ICMP_SLT, P::ICMP_ULT, P::FCMP_OLT},
      Row{Mod::le, P::ICMP_SLE, P::ICMP_ULE, P::FCMP_OLE},
      Row{Mod::gt, P::ICMP_SGT, P::ICMP_UGT, P::FCMP_OGT},
      Row{Mod::ge, P::ICMP_SGE, P::ICMP_UGE, P::FCMP_OGE},
      Row{Mod::lo, P::ICMP_ULT, P::ICMP_ULT, P::FCMP_OLT},
      Row{Mod::ls, P::ICMP_ULE, P::ICMP_ULE, P::FCMP_OLE},
      Row{Mod::hi, P::ICMP_UGT, P::ICMP_UGT, P::FCMP_OGT},
      Row{Mod::hs, P::ICMP_UGE, P::ICMP_UGE, P::FCMP_OGE},
      Row{Mod::equ, P::ICMP_EQ, P::ICMP_EQ, P::FCMP_UEQ},
      Row{Mod::neu, P::ICMP_NE, P::ICMP_NE, P::FCMP_UNE},
      Row{Mod::ltu, P::ICMP_SLT, P::ICMP_ULT, P::FCMP_ULT},
      Row{Mod::leu, P::ICMP_SLE, P::ICMP_ULE, P::FCMP_ULE},
      Row{Mod::gtu, P::ICMP_SGT, P::ICMP_UGT, P::FCMP_UGT},
      Row{Mod::geu, P::ICMP_SGE, P::ICMP_UGE, P::FCMP_UGE},
      Row{Mod::num, P::ICMP_EQ, P::ICMP_EQ, P::FCMP_ORD},
      Row{Mod::nan, P::ICMP_EQ, P::ICMP_EQ, P::FCMP_UNO},
  };
  for (const Row& row : rows)
    if (at.has(row.mod))
      return b_.CreateCmp(real ? row.floating : sign ? row.integer : row.natural, a, b);
  return nullptr;
}

void ArithmeticWriter::emit_selp(const Instruction& at) {
  const Operand& choice = at.operands[3];
  const ptx::RegisterId result = at.operands[0].reg;
  Value* which = is_flag(choice) ? flag(choice) : lanes_of_mask(mask(choice));
  raw_nan_ = canonical_later_[result];
  compute(result, {&at.operands[1], &at.operands[2]}, {at.type(), at.type()},
          [&](const Operands& x) { return b_.CreateSelect(which, x[0], x[1]); });
  raw_nan_ = Type::none;
}

void ArithmeticWriter::emit_predicate_logic(const Instruction& at) {
  bool flags = true;
  for (std::size_t i = 1; i < at.operands.size(); ++i)
    flags = flags && is_flag(at.operands[i]);
  auto read = [&](std::size_t i) { return flags ? flag(at.operands[i]) : mask(at.operands[i]); };
  Value* a = read(1);
  Value* result = nullptr;
  switch (at.opcode) {
  case Opcode::and_: result = b_.CreateAnd(a, read(2)); break;
  case Opcode::or_: result = b_.CreateOr(a, read(2)); break;
  case Opcode::xor_: result = b_.CreateXor(a, read(2)); break;
  default: result = b_.CreateNot(a); break;
  }
  write_predicate(at.operands[0], result);
}

} // namespace kernevo::jit
