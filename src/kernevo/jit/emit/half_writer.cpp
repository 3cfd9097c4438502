#include "kernevo/jit/emit/half_writer.h"

#include "kernevo/jit/lane_functions.h"
#include "kernevo/vgpu/semantics/half.h"

#include <algorithm>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr unsigned kFloatsOf512 = 16;
constexpr unsigned kFloatsOf256 = 8;
constexpr unsigned kFloatsOf128 = 4;

bool is_pair(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2;
}

// f16 or bf16; none for what holds neither.
Type format_of(Type type) {
  switch (type) {
  case Type::f16:
  case Type::f16x2: return Type::f16;
  case Type::bf16:
  case Type::bf16x2: return Type::bf16;
  default: return Type::none;
  }
}

std::uint16_t infinity_of(Type format) {
  return format == Type::f16 ? vgpu::semantics::Half::kInfinity
                             : vgpu::semantics::Bfloat::kInfinity;
}

std::uint16_t largest_of(Type format) {
  return format == Type::f16 ? vgpu::semantics::Half::kLargest : vgpu::semantics::Bfloat::kLargest;
}

std::uint16_t one_of(Type format) {
  return format == Type::f16 ? vgpu::semantics::Half::kOne : vgpu::semantics::Bfloat::kOne;
}

constexpr std::uint16_t kMagnitude = vgpu::semantics::kHalfNan; // all bits but the sign

unsigned elements_of(const Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : vector->getNumElements();
}

bool is_wide_conversion(const Instruction& at) {
  return at.types[0] == Type::f32 && ptx::bits_of(at.types[1]) == 16;
}

} // namespace

bool HalfWriter::writes_half(const Instruction& at) const {
  if (plan_.light || !host_.converts_halves || !lane_function(at))
    return false;
  const bool fits =
      std::all_of(at.operands.begin(), at.operands.end(), [&](const Operand& operand) {
        const bool result = &operand == &at.operands.front();
        return operand.kind != Operand::Kind::reg ||
               ptx::bits_of(source_.registers[operand.reg].type) ==
                   ptx::bits_of(result ? at.types.front() : at.types.back());
      });
  if (!fits)
    return false;
  if (at.opcode == Opcode::cvt) {
    const Type half = format_of(at.types[is_wide_conversion(at) ? 1 : 0]);
    const Type other = at.types[is_wide_conversion(at) ? 0 : 1];
    return half != Type::none && other == Type::f32 && !at.has(Mod::sat) && !at.has(Mod::rz) &&
           !at.has(Mod::rm) && !at.has(Mod::rp);
  }
  if (at.types.size() != 1)
    return false;
  if (format_of(at.type()) == Type::none)
    return false;
  switch (at.opcode) {
  case Opcode::add:
  case Opcode::sub:
  case Opcode::mul:
  case Opcode::neg:
  case Opcode::abs_:
  case Opcode::min_:
  case Opcode::max_: return true;
  case Opcode::fma_: return host_.rounds_as_told;
  default: return false;
  }
}

void HalfWriter::emit_half(const Instruction& at) {
  const bool conversion = at.opcode == Opcode::cvt;
  std::vector<const Operand*> from;
  for (std::size_t i = 1; i < at.operands.size(); ++i)
    from.push_back(&at.operands[i]);
  const std::vector<Type> types(from.size(), at.types.back());
  // The sign of a NaN shows in the result of these two alone.
  if (at.opcode != Opcode::neg && at.opcode != Opcode::abs_)
    raw_nan_ = types.front();
  // bf16 comes out canonical.
  if (raw_nan_ != Type::none && format_of(at.types[0]) != Type::bf16)
    raw_result_ = at.types[0];
  compute(at.operands[0].reg, from, types, [&](const Operands& x) {
    return conversion ? half_conversion(at, x) : half_arithmetic(at, x);
  });
  raw_nan_ = raw_result_ = Type::none;
}

Value* HalfWriter::half_arithmetic(const Instruction& at, const Operands& operands) {
  const Type type = at.type();
  const Type format = format_of(type);
  const bool ftz = at.has(Mod::ftz);
  Operands x;
  for (Value* operand : operands) {
    Value* half = halves_of(operand, type);
    x.push_back(ftz ? flush_half(half, format) : half);
  }
  auto computed = [&](auto&& make) {
    Operands wide;
    for (Value* operand : x)
      wide.push_back(widen(operand, format));
    return finish_half(at, narrow(make(wide), format), format);
  };
  Value* result = nullptr;
  switch (at.opcode) {
  // f32 has more than twice the bits: rounding a sum or a product twice gives what once does.
  case Opcode::add:
    result = computed([&](const Operands& y) { return b_.CreateFAdd(y[0], y[1]); });
    break;
  case Opcode::sub:
    result = computed([&](const Operands& y) { return b_.CreateFSub(y[0], y[1]); });
    break;
  case Opcode::mul:
    result = computed([&](const Operands& y) { return b_.CreateFMul(y[0], y[1]); });
    break;
  case Opcode::fma_: result = computed([&](const Operands& y) { return fma_to_odd(y); }); break;
  case Opcode::neg: result = b_.CreateXor(x[0], bits(x[0], vgpu::semantics::kHalfSign)); break;
  case Opcode::abs_: result = b_.CreateAnd(x[0], bits(x[0], kMagnitude)); break;
  default: result = extremum_half(at, x[0], x[1], format); break;
  }
  return b_.CreateBitCast(result, operands[0]->getType());
}

Value* HalfWriter::half_conversion(const Instruction& at, const Operands& operands) {
  auto flush = [&](Value* value) -> Value* {
    if (!at.has(Mod::ftz))
      return value;
    Value* word = as(value, b_.getInt32Ty());
    Value* small = b_.CreateICmpEQ(b_.CreateAnd(word, bits(word, 0x7F800000U)), bits(word, 0));
    return as(b_.CreateSelect(small, b_.CreateAnd(word, bits(word, 0x80000000U)), word),
              b_.getFloatTy());
  };
  if (is_wide_conversion(at)) {
    const Type format = at.types[1];
    Value* wide = widen(as(operands[0], b_.getInt16Ty()), format);
    return format == Type::bf16 ? flush(wide) : wide; // no f16 is subnormal as f32
  }
  const Type format = format_of(at.types[0]);
  auto convert = [&](Value* value) {
    value = flush(value);
    if (at.has(Mod::relu)) {
      auto* zero = llvm::Constant::getNullValue(value->getType());
      value = b_.CreateSelect(b_.CreateFCmpOLE(value, zero), zero, value);
    }
    Value* half = narrow(value, format);
    if (!at.has(Mod::satfinite))
      return half;
    Value* infinite = b_.CreateICmpEQ(b_.CreateAnd(half, bits(half, kMagnitude)),
                                      bits(half, infinity_of(format)));
    Value* largest = b_.CreateOr(b_.CreateAnd(half, bits(half, vgpu::semantics::kHalfSign)),
                                 bits(half, largest_of(format)));
    return b_.CreateSelect(infinite, largest, half);
  };
  if (!is_pair(at.types[0]))
    return convert(operands[0]);
  // The first goes into the upper half.
  auto part = [&](Value* value) -> Value* {
    Value* half = convert(value);
    llvm::Type* word = b_.getInt32Ty();
    return b_.CreateZExt(half, half->getType()->isVectorTy() ? lanes_of(word) : word);
  };
  Value* high = part(operands[0]);
  return b_.CreateOr(b_.CreateShl(high, bits(high, 16)), part(operands[1]));
}

llvm::Constant* HalfWriter::bits(const Value* like, std::uint64_t value) {
  return llvm::ConstantInt::get(like->getType(), value);
}

Value* HalfWriter::is_nan_half(Value* x, Type format) {
  return b_.CreateICmpUGT(b_.CreateAnd(x, bits(x, kMagnitude)), bits(x, infinity_of(format)));
}

Value* HalfWriter::flush_half(Value* x, Type format) {
  Value* small = b_.CreateICmpEQ(b_.CreateAnd(x, bits(x, infinity_of(format))), bits(x, 0));
  return b_.CreateSelect(small, b_.CreateAnd(x, bits(x, vgpu::semantics::kHalfSign)), x);
}

// A NaN operand gives way to the other one unless it is to be passed on; -0 is below +0.
Value* HalfWriter::extremum_half(const Instruction& at, Value* a, Value* b, Type format) {
  Value* sign = nullptr;
  if (at.has(Mod::xorsign)) {
    sign = b_.CreateAnd(b_.CreateXor(a, b), bits(a, vgpu::semantics::kHalfSign));
    a = b_.CreateAnd(a, bits(a, kMagnitude));
    b = b_.CreateAnd(b, bits(b, kMagnitude));
  }
  // As two's complement the bits have the order of the numbers; the same step leads back.
  auto ordered = [&](Value* x) {
    return b_.CreateXor(x, b_.CreateAnd(b_.CreateAShr(x, bits(x, 15)), bits(x, kMagnitude)));
  };
  const auto choice = at.opcode == Opcode::max_ ? llvm::Intrinsic::smax : llvm::Intrinsic::smin;
  Value* result = ordered(b_.CreateBinaryIntrinsic(choice, ordered(a), ordered(b)));
  Value* nan_a = is_nan_half(a, format);
  Value* nan_b = is_nan_half(b, format);
  result = b_.CreateSelect(nan_a, b, b_.CreateSelect(nan_b, a, result));
  if (sign != nullptr)
    result = b_.CreateOr(result, sign);
  Value* is_nan = at.has(Mod::nan) ? b_.CreateOr(nan_a, nan_b) : b_.CreateAnd(nan_a, nan_b);
  return b_.CreateSelect(is_nan, bits(a, vgpu::semantics::kHalfNan), result);
}

Value* HalfWriter::finish_half(const Instruction& at, Value* x, Type format) {
  if (at.has(Mod::ftz))
    x = flush_half(x, format);
  if (at.has(Mod::sat)) { // NaN becomes 0
    Value* capped = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, bits(x, one_of(format)));
    x = b_.CreateSelect(b_.CreateICmpUGT(x, bits(x, infinity_of(format))), bits(x, 0), capped);
  }
  if (at.has(Mod::relu)) {
    Value* negative = b_.CreateICmpSLT(x, bits(x, 0));
    x = b_.CreateSelect(b_.CreateAnd(negative, b_.CreateNot(is_nan_half(x, format))), bits(x, 0),
                        x);
  }
  return x;
}

Value* HalfWriter::compare_halves(const Instruction& at, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  const Type format = at.type();
  if (at.has(Mod::ftz)) {
    a = flush_half(a, format);
    b = flush_half(b, format);
  }
  Value* unordered = b_.CreateOr(is_nan_half(a, format), is_nan_half(b, format));
  if (at.has(Mod::nan))
    return unordered;
  if (at.has(Mod::num))
    return b_.CreateNot(unordered);
  // Both zeros become 0.
  auto number = [&](Value* x) {
    Value* sign = b_.CreateAShr(x, bits(x, 15));
    return b_.CreateSub(b_.CreateXor(b_.CreateAnd(x, bits(x, kMagnitude)), sign), sign);
  };
  struct Row {
    Mod ordered;
    Mod or_nan;
    P predicate;
  };
  static constexpr std::array rows = {
      Row{Mod::eq, Mod::equ, P::ICMP_EQ},  Row{Mod::ne, Mod::neu, P::ICMP_NE},
      Row{Mod::lt, Mod::ltu, P::ICMP_SLT}, Row{Mod::le, Mod::leu, P::ICMP_SLE},
      Row{Mod::gt, Mod::gtu, P::ICMP_SGT}, Row{Mod::ge, Mod::geu, P::ICMP_SGE},
  };
  for (const Row& row : rows) {
    if (!at.has(row.ordered) && !at.has(row.or_nan))
      continue;
    Value* truth = b_.CreateICmp(row.predicate, number(a), number(b));
    return at.has(row.or_nan) ? b_.CreateOr(truth, unordered)
                              : b_.CreateAnd(truth, b_.CreateNot(unordered));
  }
  return nullptr;
}

template <class Make>
Value* HalfWriter::in_pieces(const Operands& operands, unsigned size, Make&& make) {
  const unsigned count = elements_of(operands.front());
  std::vector<Value*> made;
  for (unsigned first = 0; first < count; first += size) {
    std::vector<int> pick;
    for (unsigned i = 0; i < size; ++i)
      pick.push_back(first + i < count ? static_cast<int>(first + i) : -1);
    Operands piece;
    for (Value* operand : operands) {
      if (!operand->getType()->isVectorTy())
        operand = b_.CreateInsertElement(
            llvm::PoisonValue::get(llvm::FixedVectorType::get(operand->getType(), 1)), operand,
            std::uint64_t{0});
      piece.push_back(b_.CreateShuffleVector(operand, pick));
    }
    made.push_back(make(piece));
  }
  if (!operands.front()->getType()->isVectorTy())
    return b_.CreateExtractElement(made.front(), std::uint64_t{0});
  Value* all = llvm::concatenateVectors(b_, made);
  if (elements_of(all) == count)
    return all;
  std::vector<int> pick;
  for (unsigned i = 0; i < count; ++i)
    pick.push_back(static_cast<int>(i));
  return b_.CreateShuffleVector(all, pick);
}

Value* HalfWriter::widen(Value* x, Type format) {
  if (Value* same = llvm::getSplatValue(x))
    return b_.CreateVectorSplat(elements_of(x), widen(same, format));
  auto like = [&](llvm::Type* type, const Value* value) -> llvm::Type* {
    return value->getType()->isVectorTy() ? llvm::FixedVectorType::get(type, elements_of(value))
                                          : type;
  };
  if (format == Type::bf16) {
    Value* word = b_.CreateZExt(x, like(b_.getInt32Ty(), x));
    return as(b_.CreateShl(word, bits(word, 16)), b_.getFloatTy());
  }
  auto extend = [&](Value* half) {
    return b_.CreateFPExt(as(half, b_.getHalfTy()), like(b_.getFloatTy(), half));
  };
  const unsigned size = host_.rounds_as_told ? kFloatsOf512 : kFloatsOf256;
  if (elements_of(x) <= size)
    return extend(x);
  return in_pieces({x}, size, [&](const Operands& piece) { return extend(piece[0]); });
}

// Rounded to nearest even. NaN stays some NaN in f16 and becomes the canonical one in bf16.
Value* HalfWriter::narrow(Value* x, Type format) {
  if (format == Type::bf16) {
    Value* word = as(x, b_.getInt32Ty());
    Value* odd = b_.CreateAnd(b_.CreateLShr(word, bits(word, 16)), bits(word, 1));
    Value* rounded = b_.CreateAdd(b_.CreateAdd(word, bits(word, 0x7FFF)), odd);
    rounded = b_.CreateLShr(rounded, bits(word, 16));
    rounded =
        b_.CreateSelect(b_.CreateFCmpUNO(x, x), bits(word, vgpu::semantics::kHalfNan), rounded);
    llvm::Type* half = b_.getInt16Ty();
    return b_.CreateTrunc(rounded, x->getType()->isVectorTy()
                                       ? llvm::FixedVectorType::get(half, elements_of(x))
                                       : half);
  }
  // Intrinsics: LLVM would turn fptrunc of a sum into a sum of halves, and take that lane by lane.
  llvm::Constant* nearest = i32(0);
  if (elements_of(x) < kFloatsOf256)
    return in_pieces({x}, kFloatsOf128, [&](const Operands& piece) {
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_vcvtps2ph_128, {}, {piece[0], nearest});
    });
  if (!host_.rounds_as_told)
    return in_pieces({x}, kFloatsOf256, [&](const Operands& piece) {
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_vcvtps2ph_256, {}, {piece[0], nearest});
    });
  auto* none = llvm::PoisonValue::get(llvm::FixedVectorType::get(b_.getInt16Ty(), kFloatsOf512));
  return in_pieces({x}, kFloatsOf512, [&](const Operands& piece) {
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_vcvtps2ph_512, {},
                              {piece[0], nearest, none, b_.getInt16(0xFFFF)});
  });
}

// a * b + c rounded to odd, which may be rounded once more: where the sum is not exact, one of its
// two neighbours is odd. An exact zero is positive, or has the sign of both, as in the sum rounded
// up; what is too large is the largest number, which is odd, before it is infinity.
Value* HalfWriter::fma_to_odd(const Operands& x) {
  constexpr std::uint32_t down = 0x9; // without exceptions
  constexpr std::uint32_t up = 0xA;
  return in_pieces(x, kFloatsOf512, [&](const Operands& y) {
    auto rounded = [&](std::uint32_t mode) {
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vfmadd_ps_512, {},
                                {y[0], y[1], y[2], i32(mode)});
    };
    Value* below = rounded(down);
    Value* word = as(below, b_.getInt32Ty());
    Value* odd = b_.CreateICmpNE(b_.CreateAnd(word, bits(word, 1)), bits(word, 0));
    return b_.CreateSelect(odd, below, rounded(up));
  });
}

} // namespace kernevo::jit
