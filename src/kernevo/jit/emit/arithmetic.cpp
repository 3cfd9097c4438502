// Arithmetic and logic of one lane.
#include "kernevo/jit/emit/arithmetic_writer.h"

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

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

void ArithmeticWriter::emit_arithmetic(const Instruction& at, std::uint32_t instruction) {
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
  if (writes_half(at)) {
    emit_half(at);
    return;
  }
  if (is_permutation(at)) {
    emit_permutation(at);
    return;
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
  raw_nan_ = raw_result_ = is_raw_float(at) ? Type::f32 : Type::none;
  compute(result, from, types, [&](const Operands& x) { return arithmetic(at, x); });
  raw_nan_ = raw_result_ = Type::none;
}

bool ArithmeticWriter::is_permutation(const Instruction& at) const {
  return at.opcode == Opcode::prmt && !plan_.light && at.modifiers.empty() &&
         at.operands.size() == 4 && at.operands[3].kind == Operand::Kind::integer &&
         (at.operands[3].bits & 0x8888U) == 0; // no byte's sign
}

void ArithmeticWriter::emit_permutation(const Instruction& at) {
  const auto selector = static_cast<std::uint32_t>(at.operands[3].bits);
  compute(at.operands[0].reg, {&at.operands[1], &at.operands[2]}, {Type::b32, Type::b32},
          [&](const Operands& x) {
            const unsigned lanes = x[0]->getType()->isVectorTy() ? kLanes : 1;
            auto* bytes = llvm::FixedVectorType::get(b_.getInt8Ty(), 4 * lanes);
            std::vector<int> pick;
            for (unsigned lane = 0; lane < lanes; ++lane)
              for (unsigned i = 0; i < 4; ++i) {
                const unsigned byte = selector >> (4 * i) & 7U;
                pick.push_back(static_cast<int>(4 * lane + byte % 4 + (byte < 4 ? 0 : 4 * lanes)));
              }
            return b_.CreateBitCast(b_.CreateShuffleVector(b_.CreateBitCast(x[0], bytes),
                                                           b_.CreateBitCast(x[1], bytes), pick),
                                    x[0]->getType());
          });
}

Value* ArithmeticWriter::flush(Value* value) {
  llvm::Type* type = value->getType();
  Value* bits = as(value, b_.getInt32Ty());
  auto constant = [&](std::uint32_t x) { return llvm::ConstantInt::get(bits->getType(), x); };
  Value* small = b_.CreateICmpEQ(b_.CreateAnd(bits, constant(0x7F800000U)), constant(0));
  Value* result = b_.CreateSelect(small, b_.CreateAnd(bits, constant(0x80000000U)), bits);
  return b_.CreateBitCast(result, type);
}

// A NaN operand gives way to the other one; -0 is below +0.
Value* ArithmeticWriter::extremum(bool maximum, Value* a, Value* b) {
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

Value* ArithmeticWriter::shift(const Instruction& at, Value* a, Value* amount) {
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

Value* ArithmeticWriter::arithmetic(const Instruction& at, const Operands& operands) {
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

void ArithmeticWriter::emit_lane_function(const Instruction& at, const LaneFunction& function) {
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
    finish_call(*call, function);
    return fit(call, target);
  });
}

} // namespace kernevo::jit
