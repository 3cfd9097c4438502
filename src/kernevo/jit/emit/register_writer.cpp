#include "kernevo/jit/emit/register_writer.h"

#include "kernevo/vgpu/program/immediate.h"

#include <algorithm>

namespace kernevo::jit {

using ptx::Operand;
using ptx::Type;
using vgpu::analysis::Shape;

RegisterWriter::RegisterWriter(llvm::LLVMContext& context, const vgpu::CompileJob& job,
                               const Plan& plan, const Host& host)
    : FunctionWriter(context, job, plan, host),
      canonical_later_(source_.registers.size(), Type::none) {}

Shape RegisterWriter::shape(const Operand& operand) const {
  return vgpu::analysis::shape_of(code_, plan_.shapes, operand, job_.facts);
}

bool RegisterWriter::is_uniform(const Operand& operand) const {
  if (operand.kind == Operand::Kind::reg) {
    const Home home = plan_.home[operand.reg];
    return home == Home::flag ||
           (home == Home::scalar &&
            (shape(operand.reg).is_uniform() || shape(operand.reg).kind == Shape::Kind::unset));
  }
  return shape(operand).is_uniform();
}

Value* RegisterWriter::constant(const Operand& operand, Type type) {
  const std::uint64_t bits = vgpu::immediate_bits(operand, type);
  llvm::Type* wanted = element(type);
  auto* integer = b_.getIntN(wanted->getPrimitiveSizeInBits().getFixedValue() == 1
                                 ? 1
                                 : static_cast<unsigned>(wanted->getPrimitiveSizeInBits()),
                             type == Type::pred ? bits & 1U : bits);
  return wanted->isIntegerTy() ? integer : llvm::ConstantExpr::getBitCast(integer, wanted);
}

// A special register or an address of a name: set before the activation, so read once.
Value* RegisterWriter::read_slot(std::uint32_t slot, llvm::Type* type, unsigned lane) {
  const auto bytes = type->getPrimitiveSizeInBits().getFixedValue() / 8;
  auto read = [&](Builder& at) {
    return at.CreateLoad(at.getIntNTy(static_cast<unsigned>(bytes * 8)),
                         at.CreateConstGEP1_64(at.getInt8Ty(), frame_, slot + lane * bytes));
  };
  if (!keeps_values())
    return as(read(b_), type);
  auto& value = slot_values_[{slot, lane}];
  if (value == nullptr)
    value = read(prologue_);
  return as(value, type);
}

Value* RegisterWriter::frame_lanes(std::uint32_t slot, llvm::Type* type) {
  return b_.CreateAlignedLoad(lanes_of(type), b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_, slot),
                              llvm::Align(64));
}

std::uint32_t RegisterWriter::slot_of(const Operand& operand, Type type) const {
  const auto size = static_cast<std::uint32_t>(ptx::bytes_of(type));
  if (operand.kind == Operand::Kind::symbol)
    return code_.symbol_slots.at({operand.name, operand.offset, size});
  for (const auto& slot : code_.specials)
    if (slot.special == operand.special && slot.size == size)
      return slot.offset;
  return kNone;
}

Value* RegisterWriter::first_lane(const Operand& operand, Type type, unsigned group,
                                  unsigned index) {
  llvm::Type* wanted = element(type);
  const unsigned lane = group * index;
  switch (operand.kind) {
  case Operand::Kind::reg: {
    const ptx::RegisterId reg = operand.reg;
    llvm::Type* own = element(source_.registers[reg].type);
    if (plan_.home[reg] == Home::scalar) {
      const Shape& from = shape(reg);
      Value* value = b_.CreateLoad(own, home(reg, lane / from.group));
      if (const std::uint64_t steps = lane % from.group; steps != 0 && from.stride != 0)
        value = b_.CreateAdd(
            value, llvm::ConstantInt::get(own, static_cast<std::uint64_t>(from.stride) * steps));
      return as(canonical_read(value, reg), wanted);
    }
    return as(varying_lane(reg, lane), wanted);
  }
  case Operand::Kind::special: return read_slot(slot_of(operand, type), wanted, lane);
  case Operand::Kind::symbol: return read_slot(slot_of(operand, type), wanted, 0);
  default: return constant(operand, type);
  }
}

// Base of each group + stride * position in the group.
Value* RegisterWriter::expand(const std::vector<Value*>& bases, std::int64_t stride,
                              unsigned group) {
  llvm::Type* type = bases.front()->getType();
  Value* lanes = nullptr;
  if (bases.size() == 1) {
    lanes = b_.CreateVectorSplat(kLanes, bases.front());
  } else {
    const auto count = static_cast<unsigned>(bases.size());
    Value* packed = llvm::PoisonValue::get(llvm::FixedVectorType::get(type, count));
    for (unsigned i = 0; i < count; ++i)
      packed = b_.CreateInsertElement(packed, bases[i], std::uint64_t{i});
    std::vector<int> pick;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      pick.push_back(static_cast<int>(lane / group));
    lanes = b_.CreateShuffleVector(packed, pick);
  }
  if (stride == 0)
    return lanes;
  std::vector<llvm::Constant*> steps;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    steps.push_back(
        llvm::ConstantInt::get(type, static_cast<std::uint64_t>(stride) * (lane % group)));
  return b_.CreateAdd(lanes, llvm::ConstantVector::get(steps));
}

Value* RegisterWriter::vector(const Operand& operand, Type type) {
  llvm::Type* wanted = element(type);
  switch (operand.kind) {
  case Operand::Kind::reg: {
    const ptx::RegisterId reg = operand.reg;
    llvm::Type* own = element(source_.registers[reg].type);
    switch (plan_.home[reg]) {
    case Home::frame:
      return as(canonical_read(frame_lanes(code_.register_slots[reg], own), reg), wanted);
    case Home::vector:
      return as(canonical_read(b_.CreateLoad(lanes_of(own), home(reg)), reg), wanted);
    default: break;
    }
    std::vector<Value*> bases;
    for (int i = 0; i < shape(reg).groups(); ++i)
      bases.push_back(canonical_read(b_.CreateLoad(own, home(reg, static_cast<unsigned>(i))), reg));
    return as(expand(bases, shape(reg).stride, shape(reg).group), wanted);
  }
  case Operand::Kind::special: {
    const std::uint32_t slot = slot_of(operand, type);
    if (shape(operand).is_uniform())
      return b_.CreateVectorSplat(kLanes, read_slot(slot, wanted, 0));
    return frame_lanes(slot, wanted);
  }
  default: return b_.CreateVectorSplat(kLanes, first_lane(operand, type, kLanes, 0));
  }
}

bool RegisterWriter::is_flag(const Operand& operand) const {
  return operand.kind != Operand::Kind::reg || plan_.home[operand.reg] == Home::flag;
}

Value* RegisterWriter::flag(const Operand& operand) {
  if (operand.kind != Operand::Kind::reg)
    return constant(operand, Type::pred);
  Value* value = b_.CreateLoad(b_.getInt1Ty(), home(operand.reg));
  return operand.negated ? b_.CreateNot(value) : value;
}

Value* RegisterWriter::mask_of_flag(Value* flag) {
  return b_.CreateSExt(flag, b_.getInt32Ty());
}

Value* RegisterWriter::mask(const Operand& operand) {
  if (is_flag(operand))
    return mask_of_flag(flag(operand));
  Value* value = b_.CreateLoad(b_.getInt32Ty(), home(operand.reg));
  return operand.negated ? b_.CreateNot(value) : value;
}

Value* RegisterWriter::lanes_of_mask(Value* mask) {
  return b_.CreateBitCast(mask, lanes_of(b_.getInt1Ty()));
}

Value* RegisterWriter::mask_of_lanes(Value* lanes) {
  return b_.CreateBitCast(lanes, b_.getInt32Ty());
}

void RegisterWriter::write_scalar(ptx::RegisterId reg, unsigned index, Value* value) {
  note_change(reg);
  llvm::Type* own = element(source_.registers[reg].type);
  value = as(canonical_write(value, reg), own);
  Value* place = home(reg, index);
  if (guard_flag_ != nullptr)
    value = b_.CreateSelect(guard_flag_, value, b_.CreateLoad(own, place));
  b_.CreateStore(value, place);
}

void RegisterWriter::write_vector(ptx::RegisterId reg, Value* value) {
  llvm::Type* own = element(source_.registers[reg].type);
  value = as(canonical_write(value, reg), own);
  if (plan_.home[reg] == Home::frame) {
    const std::uint32_t slot = code_.register_slots[reg];
    if (guard_mask_ != nullptr || !job_.full)
      value = b_.CreateSelect(lanes_of_mask(active()), value, frame_lanes(slot, own));
    b_.CreateAlignedStore(value, b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_, slot),
                          llvm::Align(64));
    return;
  }
  Value* place = home(reg);
  if (guard_flag_ != nullptr)
    value = b_.CreateSelect(guard_flag_, value, b_.CreateLoad(lanes_of(own), place));
  else if (guard_mask_ != nullptr)
    value = b_.CreateSelect(lanes_of_mask(guard_mask_), value, b_.CreateLoad(lanes_of(own), place));
  b_.CreateStore(value, place);
}

// A predicate as it comes: i1 when uniform, else a mask of lanes.
void RegisterWriter::write_predicate(const Operand& operand, Value* value) {
  if (operand.kind != Operand::Kind::reg)
    return;
  Value* place = home(operand.reg);
  if (plan_.home[operand.reg] == Home::flag) {
    if (guard_flag_ != nullptr)
      value = b_.CreateSelect(guard_flag_, value, b_.CreateLoad(b_.getInt1Ty(), place));
    b_.CreateStore(value, place);
    return;
  }
  if (value->getType()->isIntegerTy(1))
    value = mask_of_flag(value);
  // Bits of lanes that do not run are another part's, once they are in the frame.
  const bool shared = masks_are_in_frame() && !job_.full;
  if (guard_mask_ != nullptr || shared) {
    Value* old = b_.CreateLoad(b_.getInt32Ty(), place);
    Value* lanes = shared ? active() : guard_mask_;
    value = b_.CreateXor(old, b_.CreateAnd(b_.CreateXor(old, value), lanes));
  }
  b_.CreateStore(value, place);
}

// Puts a register where the interpreter's handlers look for it.
void RegisterWriter::store_for_handler(ptx::RegisterId reg) {
  const Home home = plan_.home[reg];
  if (home == Home::frame || home == Home::unused || (home == Home::mask && masks_are_in_frame()))
    return;
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.reg = reg;
  Value* slot = b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_, code_.register_slots[reg]);
  if (home == Home::flag || home == Home::mask) {
    Value* value = mask(operand);
    if (!job_.full) {
      Value* old = b_.CreateLoad(b_.getInt32Ty(), slot);
      value = b_.CreateXor(old, b_.CreateAnd(b_.CreateXor(old, value), mask_));
    }
    b_.CreateStore(value, slot);
    return;
  }
  put_lanes_in_frame(operand, slot);
}

void RegisterWriter::reload_from_handler(ptx::RegisterId reg) {
  note_change(reg);
  if (plan_.home[reg] == Home::mask && masks_are_in_frame())
    return;
  llvm::Type* own = element(source_.registers[reg].type);
  Value* slot = b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_, code_.register_slots[reg]);
  Value* lane = job_.full ? static_cast<Value*>(i32(0))
                          : b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask_, b_.getTrue());
  switch (plan_.home[reg]) {
  case Home::scalar: // uniform: the plan keeps other shapes out of handlers' results
    b_.CreateStore(b_.CreateLoad(own, b_.CreateGEP(own, slot, lane)), home(reg));
    break;
  case Home::flag:
    b_.CreateStore(
        b_.CreateTrunc(b_.CreateLShr(b_.CreateLoad(b_.getInt32Ty(), slot), lane), b_.getInt1Ty()),
        home(reg));
    break;
  case Home::mask: b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), slot), home(reg)); break;
  case Home::vector:
    b_.CreateStore(b_.CreateAlignedLoad(lanes_of(own), slot, llvm::Align(64)), home(reg));
    break;
  default: break;
  }
}

// All NaN of a type become one.
Value* RegisterWriter::canonical(Value* value, Type type) {
  llvm::Type* own = value->getType();
  if (type == Type::f32) {
    value = as(value, b_.getFloatTy());
    auto* nan = llvm::ConstantFP::get(
        value->getType(), llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, 0x7FFFFFFFU)));
    return b_.CreateBitCast(b_.CreateSelect(b_.CreateFCmpUNO(value, value), nan, value), own);
  }
  Value* bits = halves_of(value, type);
  auto constant = [&](std::uint16_t x) { return llvm::ConstantInt::get(bits->getType(), x); };
  Value* is_nan = b_.CreateICmpUGT(b_.CreateAnd(bits, constant(0x7FFF)), constant(0x7C00));
  return b_.CreateBitCast(b_.CreateSelect(is_nan, constant(0x7FFF), bits), own);
}

Value* RegisterWriter::canonical_read(Value* value, ptx::RegisterId reg) {
  const Type type = canonical_later_[reg];
  return type != Type::none && type != raw_nan_ ? canonical(value, type) : value;
}

Value* RegisterWriter::canonical_write(Value* value, ptx::RegisterId reg) {
  return raw_result_ != Type::none && raw_result_ != canonical_later_[reg]
             ? canonical(value, raw_result_)
             : value;
}

} // namespace kernevo::jit
