// Registers and operands: scalars where the shape allows, 32 lanes otherwise.
#include "kernevo/jit/emitter.h"
#include "kernevo/vgpu/immediate.h"

#include <algorithm>

namespace kernevo::jit {

using ptx::Operand;
using ptx::Type;
using vgpu::analysis::Shape;

llvm::Type* Emitter::element(Type type) const {
  auto& context = context_;
  switch (type) {
  case Type::f32: return llvm::Type::getFloatTy(context);
  case Type::f64: return llvm::Type::getDoubleTy(context);
  case Type::pred: return llvm::Type::getInt1Ty(context);
  default:
    return llvm::Type::getIntNTy(context, static_cast<unsigned>(std::max(8, ptx::bits_of(type))));
  }
}

llvm::VectorType* Emitter::lanes_of(llvm::Type* type) const {
  return llvm::FixedVectorType::get(type, kLanes);
}

void Emitter::make_homes() {
  homes_.resize(source_.registers.size());
  for (ptx::RegisterId reg = 0; reg < homes_.size(); ++reg) {
    if (plan_.light)
      continue;
    llvm::Type* type = element(source_.registers[reg].type);
    auto make = [&](llvm::Type* of) {
      // Not set here: what is live at an entry is set there, and nothing else is read before it is
      // written. A first value would live through every loop.
      return prologue_.CreateAlloca(of, nullptr, source_.registers[reg].name.substr(1));
    };
    switch (plan_.home[reg]) {
    case Home::unused:
    case Home::frame: break;
    case Home::scalar:
      for (int i = 0; i < shape(reg).groups(); ++i)
        homes_[reg].at(static_cast<std::size_t>(i)) = make(type);
      break;
    case Home::flag: homes_[reg][0] = make(b_.getInt1Ty()); break;
    case Home::mask: homes_[reg][0] = make(b_.getInt32Ty()); break;
    case Home::vector: homes_[reg][0] = make(lanes_of(type)); break;
    }
  }
}

// Where a scalar, flag, mask or vector is kept. Light code makes the address anew at every use: one
// that lives on costs more than its addition.
Value* Emitter::home(ptx::RegisterId reg, unsigned index) {
  if (!plan_.light)
    return homes_[reg].at(index);
  if (plan_.home[reg] == Home::mask)
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_, code_.register_slots[reg]);
  return b_.CreateConstGEP1_64(b_.getInt64Ty(), scalars_, plan_.scalar_of[reg] + index);
}

Shape Emitter::shape(const Operand& operand) const {
  return vgpu::analysis::shape_of(code_, plan_.shapes, operand, job_.facts);
}

bool Emitter::is_uniform(const Operand& operand) const {
  if (operand.kind == Operand::Kind::reg) {
    const Home home = plan_.home[operand.reg];
    return home == Home::flag ||
           (home == Home::scalar &&
            (shape(operand.reg).is_uniform() || shape(operand.reg).kind == Shape::Kind::unset));
  }
  return shape(operand).is_uniform();
}

// Same size, other type: float and its bits.
Value* Emitter::as(Value* value, llvm::Type* type) {
  llvm::Type* wanted =
      value->getType()->isVectorTy()
          ? llvm::FixedVectorType::get(
                type, llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements())
          : type;
  return value->getType() == wanted ? value : b_.CreateBitCast(value, wanted);
}

Value* Emitter::constant(const Operand& operand, Type type) {
  const std::uint64_t bits = vgpu::immediate_bits(operand, type);
  llvm::Type* wanted = element(type);
  auto* integer = b_.getIntN(wanted->getPrimitiveSizeInBits().getFixedValue() == 1
                                 ? 1
                                 : static_cast<unsigned>(wanted->getPrimitiveSizeInBits()),
                             type == Type::pred ? bits & 1U : bits);
  return wanted->isIntegerTy() ? integer : llvm::ConstantExpr::getBitCast(integer, wanted);
}

// A special register or an address of a name: set before the activation, so read once.
Value* Emitter::read_slot(std::uint32_t slot, llvm::Type* type, unsigned lane) {
  const auto bytes = type->getPrimitiveSizeInBits().getFixedValue() / 8;
  auto read = [&](Builder& at) {
    return at.CreateLoad(at.getIntNTy(static_cast<unsigned>(bytes * 8)),
                         at.CreateConstGEP1_64(at.getInt8Ty(), frame_, slot + lane * bytes));
  };
  if (plan_.light)
    return as(read(b_), type);
  auto& value = slot_values_[{slot, lane}];
  if (value == nullptr)
    value = read(prologue_);
  return as(value, type);
}

Value* Emitter::frame_lanes(std::uint32_t slot, llvm::Type* type) {
  return b_.CreateAlignedLoad(lanes_of(type), b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_, slot),
                              llvm::Align(64));
}

std::uint32_t Emitter::slot_of(const Operand& operand, Type type) const {
  const auto size = static_cast<std::uint32_t>(ptx::bytes_of(type));
  if (operand.kind == Operand::Kind::symbol)
    return code_.symbol_slots.at({operand.name, operand.offset, size});
  for (const auto& slot : code_.specials)
    if (slot.special == operand.special && slot.size == size)
      return slot.offset;
  return kNone;
}

Value* Emitter::first_lane(const Operand& operand, Type type, unsigned group, unsigned index) {
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
    if (plan_.light)
      return as(b_.CreateLoad(own, in_frame(code_.register_slots[reg] +
                                            lane * static_cast<std::uint32_t>(ptx::bytes_of(
                                                       source_.registers[reg].type)))),
                wanted);
    Value* all = plan_.home[reg] == Home::frame ? frame_lanes(code_.register_slots[reg], own)
                                                : b_.CreateLoad(lanes_of(own), home(reg));
    return as(canonical_read(b_.CreateExtractElement(all, std::uint64_t{lane}), reg), wanted);
  }
  case Operand::Kind::special: return read_slot(slot_of(operand, type), wanted, lane);
  case Operand::Kind::symbol: return read_slot(slot_of(operand, type), wanted, 0);
  default: return constant(operand, type);
  }
}

// Base of each group + stride * position in the group.
Value* Emitter::expand(const std::vector<Value*>& bases, std::int64_t stride, unsigned group) {
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

Value* Emitter::vector(const Operand& operand, Type type) {
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

bool Emitter::is_flag(const Operand& operand) const {
  return operand.kind != Operand::Kind::reg || plan_.home[operand.reg] == Home::flag;
}

Value* Emitter::flag(const Operand& operand) {
  if (operand.kind != Operand::Kind::reg)
    return constant(operand, Type::pred);
  Value* value = b_.CreateLoad(b_.getInt1Ty(), home(operand.reg));
  return operand.negated ? b_.CreateNot(value) : value;
}

Value* Emitter::mask_of_flag(Value* flag) {
  return b_.CreateSExt(flag, b_.getInt32Ty());
}

Value* Emitter::mask(const Operand& operand) {
  if (is_flag(operand))
    return mask_of_flag(flag(operand));
  Value* value = b_.CreateLoad(b_.getInt32Ty(), home(operand.reg));
  return operand.negated ? b_.CreateNot(value) : value;
}

Value* Emitter::lanes_of_mask(Value* mask) {
  return b_.CreateBitCast(mask, lanes_of(b_.getInt1Ty()));
}

Value* Emitter::mask_of_lanes(Value* lanes) {
  return b_.CreateBitCast(lanes, b_.getInt32Ty());
}

void Emitter::write_scalar(ptx::RegisterId reg, unsigned index, Value* value) {
  expanded_.erase(reg);
  llvm::Type* own = element(source_.registers[reg].type);
  value = as(canonical_write(value, reg), own);
  Value* place = home(reg, index);
  if (guard_flag_ != nullptr)
    value = b_.CreateSelect(guard_flag_, value, b_.CreateLoad(own, place));
  b_.CreateStore(value, place);
}

void Emitter::write_vector(ptx::RegisterId reg, Value* value) {
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
void Emitter::write_predicate(const Operand& operand, Value* value) {
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
  const bool shared = plan_.light && !job_.full;
  if (guard_mask_ != nullptr || shared) {
    Value* old = b_.CreateLoad(b_.getInt32Ty(), place);
    Value* lanes = shared ? active() : guard_mask_;
    value = b_.CreateXor(old, b_.CreateAnd(b_.CreateXor(old, value), lanes));
  }
  b_.CreateStore(value, place);
}

void Emitter::load_at_entry(const vgpu::CompiledRegister& item) {
  const ptx::RegisterId reg = item.reg;
  llvm::Type* own = element(source_.registers[reg].type);
  auto base = [&](unsigned index) {
    return b_.CreateLoad(b_.getInt64Ty(),
                         b_.CreateConstGEP1_64(b_.getInt64Ty(), scalars_, item.scalar + index));
  };
  Value* slot = b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_, item.slot);
  switch (plan_.home[reg]) {
  case Home::scalar:
    for (unsigned i = 0; i < static_cast<unsigned>(shape(reg).groups()); ++i) {
      auto* bits = b_.getIntNTy(static_cast<unsigned>(own->getPrimitiveSizeInBits()));
      b_.CreateStore(as(b_.CreateTrunc(base(i), bits), own), home(reg, i));
    }
    break;
  case Home::flag: b_.CreateStore(b_.CreateTrunc(base(0), b_.getInt1Ty()), home(reg)); break;
  case Home::mask: b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), slot), home(reg)); break;
  case Home::vector:
    b_.CreateStore(b_.CreateAlignedLoad(lanes_of(own), slot, llvm::Align(64)), home(reg));
    break;
  default: break;
  }
}

void Emitter::store_at_exit(const vgpu::CompiledRegister& item) {
  const ptx::RegisterId reg = item.reg;
  llvm::Type* own = element(source_.registers[reg].type);
  auto put_base = [&](unsigned index, Value* value) {
    b_.CreateStore(b_.CreateZExt(value, b_.getInt64Ty()),
                   b_.CreateConstGEP1_64(b_.getInt64Ty(), scalars_, item.scalar + index));
  };
  Value* slot = b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_, item.slot);
  switch (plan_.home[reg]) {
  case Home::scalar:
    for (unsigned i = 0; i < static_cast<unsigned>(shape(reg).groups()); ++i) {
      auto* bits = b_.getIntNTy(static_cast<unsigned>(own->getPrimitiveSizeInBits()));
      put_base(i, as(canonical_read(b_.CreateLoad(own, home(reg, i)), reg), bits));
    }
    break;
  case Home::flag: put_base(0, b_.CreateLoad(b_.getInt1Ty(), home(reg))); break;
  case Home::mask: {
    Value* value = b_.CreateLoad(b_.getInt32Ty(), home(reg));
    if (!job_.full) {
      Value* old = b_.CreateLoad(b_.getInt32Ty(), slot);
      value = b_.CreateXor(old, b_.CreateAnd(b_.CreateXor(old, value), mask_));
    }
    b_.CreateStore(value, slot);
    break;
  }
  case Home::vector: {
    Value* value = canonical_read(b_.CreateLoad(lanes_of(own), home(reg)), reg);
    if (job_.full)
      b_.CreateAlignedStore(value, slot, llvm::Align(64));
    else
      b_.CreateMaskedStore(value, slot, llvm::Align(64), lanes_of_mask(mask_));
    break;
  }
  default: break;
  }
}

// Puts a register where the interpreter's handlers look for it.
void Emitter::store_for_handler(ptx::RegisterId reg) {
  const Home home = plan_.home[reg];
  if (home == Home::frame || home == Home::unused || (home == Home::mask && plan_.light))
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
  if (plan_.light) {
    expand_into_frame(reg);
    return;
  }
  Value* value = vector(operand, source_.registers[reg].type);
  if (job_.full)
    b_.CreateAlignedStore(value, slot, llvm::Align(64));
  else
    b_.CreateMaskedStore(value, slot, llvm::Align(64), lanes_of_mask(mask_));
}

void Emitter::reload_from_handler(ptx::RegisterId reg) {
  expanded_.erase(reg);
  if (plan_.home[reg] == Home::mask && plan_.light)
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

// A NaN result of f32 arithmetic is always the same one. Where a register takes nothing but such
// results, that is seen to when its bits are looked at instead of after every operation.
void Emitter::find_canonical_registers() {
  canonical_later_.assign(source_.registers.size(), false);
  for (ptx::RegisterId reg = 0; reg < canonical_later_.size(); ++reg)
    canonical_later_[reg] = ptx::bits_of(source_.registers[reg].type) == 32 &&
                            plan_.home[reg] != Home::frame && plan_.home[reg] != Home::unused &&
                            !plan_.light;
  auto keeps = [&](std::uint32_t i) {
    const ptx::Instruction& at = source_.instructions[i];
    if (plan_.treatment[i] != Treatment::inlined || at.type() != Type::f32)
      return false;
    switch (at.opcode) {
    case ptx::Opcode::add:
    case ptx::Opcode::sub:
    case ptx::Opcode::mul:
    case ptx::Opcode::mad:
    case ptx::Opcode::fma_:
    case ptx::Opcode::min_:
    case ptx::Opcode::max_: return true;
    case ptx::Opcode::mov:
    case ptx::Opcode::selp:
      return std::all_of(at.operands.begin() + 1,
                         at.operands.begin() + (at.opcode == ptx::Opcode::mov ? 2 : 3),
                         [&](const Operand& from) {
                           if (from.kind == Operand::Kind::reg)
                             return static_cast<bool>(canonical_later_[from.reg]);
                           if (from.kind == Operand::Kind::special)
                             return false;
                           const std::uint64_t bits = vgpu::immediate_bits(from, Type::f32);
                           return (bits & 0x7FFFFFFFU) <= 0x7F800000U;
                         });
    default: return false;
    }
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < source_.instructions.size(); ++i)
      for (const ptx::RegisterId reg : plan_.liveness.effects[i].writes)
        if (canonical_later_[reg] && !keeps(i)) {
          canonical_later_[reg] = false;
          changed = true;
        }
  }
}

Value* Emitter::canonical(Value* value) {
  llvm::Type* own = value->getType()->getScalarType();
  value = as(value, b_.getFloatTy());
  auto* nan = llvm::ConstantFP::get(
      value->getType(), llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, 0x7FFFFFFFU)));
  return as(b_.CreateSelect(b_.CreateFCmpUNO(value, value), nan, value), own);
}

Value* Emitter::canonical_read(Value* value, ptx::RegisterId reg) {
  return canonical_later_[reg] && !raw_nan_ ? canonical(value) : value;
}

Value* Emitter::canonical_write(Value* value, ptx::RegisterId reg) {
  return raw_result_ && !canonical_later_[reg] ? canonical(value) : value;
}

} // namespace kernevo::jit
