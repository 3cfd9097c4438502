// Arithmetic, logic, comparisons, moves and conversions of one lane.
#include "kernevo/jit/emitter.h"
#include "kernevo/vgpu/address_windows.h"

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

bool is_real(Type type) {
  return type == Type::f32 || type == Type::f64;
}

Type doubled(Type type) {
  switch (type) {
  case Type::u16: return Type::u32;
  case Type::s16: return Type::s32;
  case Type::u32: return Type::u64;
  default: return Type::s64;
  }
}

bool is_raw_float(const Instruction& at) {
  if (at.type() != Type::f32)
    return false;
  switch (at.opcode) {
  case Opcode::add:
  case Opcode::sub:
  case Opcode::mul:
  case Opcode::mad:
  case Opcode::fma_:
  case Opcode::min_:
  case Opcode::max_: return true;
  default: return false;
  }
}

} // namespace

void Emitter::emit_arithmetic(const Instruction& at, std::uint32_t instruction) {
  switch (at.opcode) {
  case Opcode::setp: emit_setp(at); return;
  case Opcode::selp: emit_selp(at); return;
  case Opcode::mov: emit_mov(at); return;
  case Opcode::cvta: emit_cvta(at); return;
  case Opcode::cvt:
    if (is_inlined_conversion(at)) {
      emit_cvt(at, instruction);
      return;
    }
    break;
  case Opcode::and_:
  case Opcode::or_:
  case Opcode::xor_:
  case Opcode::not_:
    if (at.type() == Type::pred) {
      emit_predicate_logic(at);
      return;
    }
    break;
  default: break;
  }
  if (!is_inlined_arithmetic(at)) {
    if (const auto function = lane_function(at))
      emit_lane_function(at, *function);
    return;
  }
  const ptx::RegisterId result = at.operands[0].reg;
  const bool wide = at.has(Mod::wide);
  if (wide)
    check_widening(at, instruction);
  std::vector<const Operand*> from;
  std::vector<Type> types;
  for (std::size_t i = 1; i < at.operands.size(); ++i) {
    from.push_back(&at.operands[i]);
    types.push_back(at.type());
  }
  if (wide && at.operands.size() == 4)
    types[2] = doubled(at.type());
  if (at.opcode == Opcode::shl || at.opcode == Opcode::shr)
    types[1] = Type::u32;
  raw_nan_ = raw_result_ = is_raw_float(at);
  compute(result, from, types, [&](const Operands& x) { return arithmetic(at, x); });
  raw_nan_ = raw_result_ = false;
}

Value* Emitter::flush(Value* value) {
  llvm::Type* type = value->getType();
  Value* bits = as(value, b_.getInt32Ty());
  auto constant = [&](std::uint32_t x) { return llvm::ConstantInt::get(bits->getType(), x); };
  Value* small = b_.CreateICmpEQ(b_.CreateAnd(bits, constant(0x7F800000U)), constant(0));
  Value* result = b_.CreateSelect(small, b_.CreateAnd(bits, constant(0x80000000U)), bits);
  return b_.CreateBitCast(result, type);
}

// A NaN operand gives way to the other one; -0 is below +0.
Value* Emitter::extremum(bool maximum, Value* a, Value* b) {
  auto* integer = b_.getIntNTy(static_cast<unsigned>(a->getType()->getScalarSizeInBits()));
  Value* x = as(a, integer);
  Value* y = as(b, integer);
  Value* equal = maximum ? b_.CreateAnd(x, y) : b_.CreateOr(x, y);
  Value* first = maximum ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b);
  Value* result = b_.CreateSelect(b_.CreateFCmpOEQ(a, b), b_.CreateBitCast(equal, a->getType()),
                                  b_.CreateSelect(first, a, b));
  result = b_.CreateSelect(b_.CreateFCmpUNO(b, b), a, result);
  if (!a->getType()->getScalarType()->isDoubleTy())
    return result;
  auto* nan =
      llvm::ConstantFP::get(a->getType(), llvm::APFloat(llvm::APFloat::IEEEdouble(),
                                                        llvm::APInt(64, 0x7FFFFFFFFFFFFFFFU)));
  return b_.CreateSelect(b_.CreateFCmpUNO(result, result), nan, result);
}

Value* Emitter::shift(const Instruction& at, Value* a, Value* amount) {
  const unsigned bits = a->getType()->getScalarSizeInBits();
  llvm::Type* type = a->getType();
  Value* wide = b_.CreateZExtOrTrunc(amount, type);
  Value* inside = b_.CreateICmpULT(amount, llvm::ConstantInt::get(amount->getType(), bits));
  const bool arithmetic = at.opcode == Opcode::shr && ptx::is_signed(at.type());
  // Too large an amount shifts everything out.
  Value* safe =
      b_.CreateSelect(inside, wide, llvm::ConstantInt::get(type, arithmetic ? bits - 1 : 0));
  if (arithmetic)
    return b_.CreateAShr(a, safe);
  Value* result = at.opcode == Opcode::shl ? b_.CreateShl(a, safe) : b_.CreateLShr(a, safe);
  return b_.CreateSelect(inside, result, llvm::Constant::getNullValue(type));
}

Value* Emitter::arithmetic(const Instruction& at, const Operands& operands) {
  Operands x = operands;
  const Type type = at.type();
  const bool ftz = type == Type::f32 && at.has(Mod::ftz);
  if (ftz)
    for (Value*& operand : x)
      operand = flush(operand);
  auto finish = [&](Value* value) { return ftz ? flush(value) : value; };
  const bool sign = ptx::is_signed(type);
  auto widen = [&](Value* value) {
    llvm::Type* to = llvm::Type::getIntNTy(context_, 2 * value->getType()->getScalarSizeInBits());
    if (value->getType()->isVectorTy())
      to = lanes_of(to);
    return sign ? b_.CreateSExt(value, to) : b_.CreateZExt(value, to);
  };
  const bool wide = at.has(Mod::wide);
  switch (at.opcode) {
  case Opcode::add:
    return is_real(type) ? finish(b_.CreateFAdd(x[0], x[1])) : b_.CreateAdd(x[0], x[1]);
  case Opcode::sub:
    return is_real(type) ? finish(b_.CreateFSub(x[0], x[1])) : b_.CreateSub(x[0], x[1]);
  case Opcode::mul:
    if (is_real(type))
      return finish(b_.CreateFMul(x[0], x[1]));
    return wide ? b_.CreateMul(widen(x[0]), widen(x[1])) : b_.CreateMul(x[0], x[1]);
  case Opcode::mad:
    if (!is_real(type))
      return b_.CreateAdd(wide ? b_.CreateMul(widen(x[0]), widen(x[1])) : b_.CreateMul(x[0], x[1]),
                          x[2]);
    [[fallthrough]];
  case Opcode::fma_:
    return finish(b_.CreateIntrinsic(llvm::Intrinsic::fma, {x[0]->getType()}, {x[0], x[1], x[2]}));
  case Opcode::neg: {
    if (!is_real(type))
      return b_.CreateNeg(x[0]);
    auto* bits = b_.getIntNTy(static_cast<unsigned>(ptx::bits_of(type)));
    Value* value = as(x[0], bits);
    return b_.CreateXor(value, llvm::ConstantInt::get(
                                   value->getType(), std::uint64_t{1} << (ptx::bits_of(type) - 1)));
  }
  case Opcode::abs_: {
    if (!is_real(type))
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x[0], b_.getFalse());
    auto* bits = b_.getIntNTy(static_cast<unsigned>(ptx::bits_of(type)));
    Value* value = as(x[0], bits);
    return b_.CreateAnd(value,
                        llvm::ConstantInt::get(value->getType(),
                                               (std::uint64_t{1} << (ptx::bits_of(type) - 1)) - 1));
  }
  case Opcode::min_:
  case Opcode::max_: {
    const bool maximum = at.opcode == Opcode::max_;
    if (is_real(type))
      return extremum(maximum, x[0], x[1]);
    const auto choice = maximum ? (sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                                : (sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
    return b_.CreateBinaryIntrinsic(choice, x[0], x[1]);
  }
  case Opcode::and_: return b_.CreateAnd(x[0], x[1]);
  case Opcode::or_: return b_.CreateOr(x[0], x[1]);
  case Opcode::xor_: return b_.CreateXor(x[0], x[1]);
  case Opcode::not_: return b_.CreateNot(x[0]);
  default: return shift(at, x[0], x[1]);
  }
}

// A straight source stays straight when widened only if no lane wraps around before.
void Emitter::check_widening(const Instruction& at, std::uint32_t instruction) {
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
Value* Emitter::operand_as_declared(const Operand& operand, Type type, unsigned group,
                                    unsigned index) {
  Type declared = type;
  if (operand.kind == Operand::Kind::reg)
    declared = source_.registers[operand.reg].type;
  Value* value = first_lane(operand, declared, group, index);
  return as(value, b_.getIntNTy(static_cast<unsigned>(value->getType()->getScalarSizeInBits())));
}

void Emitter::emit_cvt(const Instruction& at, std::uint32_t instruction) {
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

void Emitter::emit_lane_function(const Instruction& at, const LaneFunction& function) {
  const ptx::RegisterId result = at.operands[0].reg;
  std::vector<const Operand*> from;
  std::vector<llvm::Type*> parameters;
  for (std::size_t i = 0; i < function.operands.size(); ++i) {
    from.push_back(&at.operands[i + 1]);
    parameters.push_back(element(function.operands[i]));
  }
  llvm::Type* value = element(function.result);
  auto declared = [&](std::size_t i) {
    return from[i]->kind == Operand::Kind::reg ? source_.registers[from[i]->reg].type
                                               : function.operands[i];
  };
  std::vector<Type> types;
  for (std::size_t i = 0; i < from.size(); ++i)
    types.push_back(declared(i));
  llvm::Type* target = element(source_.registers[result].type);
  // Registers of cvt may be wider than the value.
  auto fit = [&](Value* x, llvm::Type* to) -> Value* {
    const unsigned have = x->getType()->getScalarSizeInBits();
    const auto want = static_cast<unsigned>(to->getPrimitiveSizeInBits());
    if (have == want)
      return as(x, to);
    Value* bits = as(x, b_.getIntNTy(have));
    llvm::Type* resized = b_.getIntNTy(want);
    if (bits->getType()->isVectorTy())
      resized = lanes_of(resized);
    if (have > want)
      return as(b_.CreateTrunc(bits, resized), to);
    return as(ptx::is_signed(function.result) ? b_.CreateSExt(bits, resized)
                                              : b_.CreateZExt(bits, resized),
              to);
  };
  compute(result, from, types, [&](const Operands& x) -> Value* {
    if (!x.empty() && x[0]->getType()->isVectorTy()) {
      std::vector<llvm::Type*> pointers(from.size() + 1, b_.getPtrTy());
      auto callee = module_->getOrInsertFunction(
          function.name + "_x32", llvm::FunctionType::get(b_.getVoidTy(), pointers, false));
      std::vector<Value*> arguments;
      auto* out = stack(lanes_of(value), "result");
      arguments.push_back(out);
      for (std::size_t i = 0; i < x.size(); ++i) {
        auto* in = stack(lanes_of(parameters[i]), "operand");
        b_.CreateStore(fit(x[i], parameters[i]), in);
        arguments.push_back(in);
      }
      b_.CreateCall(callee, arguments);
      return fit(b_.CreateLoad(lanes_of(value), out), target);
    }
    auto callee = module_->getOrInsertFunction(function.name,
                                               llvm::FunctionType::get(value, parameters, false));
    std::vector<Value*> arguments;
    for (std::size_t i = 0; i < x.size(); ++i)
      arguments.push_back(fit(x[i], parameters[i]));
    auto* call = b_.CreateCall(callee, arguments);
    // Light code calls what a C++ compiler made: it expects 8 and 16 bits extended.
    for (unsigned i = 0; plan_.light && i < parameters.size(); ++i)
      if (parameters[i]->isIntegerTy() && parameters[i]->getIntegerBitWidth() < 32)
        call->addParamAttr(i, ptx::is_signed(function.operands[i]) ? llvm::Attribute::SExt
                                                                   : llvm::Attribute::ZExt);
    return fit(call, target);
  });
}

void Emitter::emit_setp(const Instruction& at) {
  const Type type = at.type();
  const Operand& destination = at.operands[0];
  const bool pair = destination.kind == Operand::Kind::pair;
  const Operand& first = pair ? destination.elements[0] : destination;
  const bool uniform = is_uniform(at.operands[1]) && is_uniform(at.operands[2]);
  raw_nan_ = true;
  Value* a = uniform ? scalar(at.operands[1], type) : vector(at.operands[1], type);
  Value* b = uniform ? scalar(at.operands[2], type) : vector(at.operands[2], type);
  raw_nan_ = false;
  if (type == Type::f32 && at.has(Mod::ftz)) {
    a = flush(a);
    b = flush(b);
  }
  Value* truth = compare(at, a, b);
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

Value* Emitter::compare(const Instruction& at, Value* a, Value* b) {
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

void Emitter::emit_selp(const Instruction& at) {
  const Operand& choice = at.operands[3];
  const ptx::RegisterId result = at.operands[0].reg;
  Value* which = is_flag(choice) ? flag(choice) : lanes_of_mask(mask(choice));
  raw_nan_ = canonical_later_[result];
  compute(result, {&at.operands[1], &at.operands[2]}, {at.type(), at.type()},
          [&](const Operands& x) { return b_.CreateSelect(which, x[0], x[1]); });
  raw_nan_ = false;
}

void Emitter::emit_predicate_logic(const Instruction& at) {
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

void Emitter::emit_cvta(const Instruction& at) {
  const std::uint64_t window = vgpu::window_base(at.space);
  compute(at.operands[0].reg, {&at.operands[1]}, {Type::u64}, [&](const Operands& x) {
    auto* base = llvm::ConstantInt::get(x[0]->getType(), window);
    return at.has(Mod::to) ? b_.CreateSub(x[0], base) : b_.CreateAdd(x[0], base);
  });
}

void Emitter::emit_mov(const Instruction& at) {
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
  raw_nan_ = false;
}

} // namespace kernevo::jit
