#include "kernevo/jit/emit/thorough_emitter.h"

#include "kernevo/vgpu/program/immediate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kernevo::jit {

using ptx::Operand;
using ptx::Type;
using vgpu::CompiledContext;

void ThoroughEmitter::prepare() {
  auto* word = b_.getInt64Ty();
  executed_ = prologue_.CreateAlloca(word, nullptr, "executed");
  idle_ = prologue_.CreateAlloca(word, nullptr, "idle");
  prologue_.CreateStore(field(offsetof(CompiledContext, executed), word, "executed_before"),
                        executed_);
  prologue_.CreateStore(prologue_.getInt64(0), idle_);
  make_homes();
  find_canonical_registers();
}

void ThoroughEmitter::make_homes() {
  homes_.resize(source_.registers.size());
  for (ptx::RegisterId reg = 0; reg < homes_.size(); ++reg) {
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

Value* ThoroughEmitter::home(ptx::RegisterId reg, unsigned index) {
  return homes_[reg].at(index);
}

Value* ThoroughEmitter::varying_lane(ptx::RegisterId reg, unsigned lane) {
  llvm::Type* own = element(source_.registers[reg].type);
  Value* all = plan_.home[reg] == Home::frame ? frame_lanes(code_.register_slots[reg], own)
                                              : b_.CreateLoad(lanes_of(own), home(reg));
  return canonical_read(b_.CreateExtractElement(all, std::uint64_t{lane}), reg);
}

void ThoroughEmitter::put_lanes_in_frame(const Operand& operand, Value* slot) {
  Value* value = vector(operand, source_.registers[operand.reg].type);
  if (job_.full)
    b_.CreateAlignedStore(value, slot, llvm::Align(64));
  else
    b_.CreateMaskedStore(value, slot, llvm::Align(64), lanes_of_mask(mask_));
}

void ThoroughEmitter::write_to_all(ptx::RegisterId reg, Value* value) {
  write_vector(reg, b_.CreateVectorSplat(kLanes, value));
}

llvm::BasicBlock* ThoroughEmitter::entry_block(std::uint32_t instruction) {
  llvm::BasicBlock* stub = new_block("entry");
  b_.SetInsertPoint(stub);
  for (const vgpu::CompiledRegister& item : plan_.entries[plan_.entry[instruction]].live)
    load_at_entry(item);
  b_.CreateBr(segment_at(instruction));
  return stub;
}

void ThoroughEmitter::emit_exit(std::uint32_t number) {
  b_.SetInsertPoint(exits_[number]);
  for (const vgpu::CompiledRegister& item : plan_.exits[number].live)
    store_at_exit(item);
  publish_counts();
  b_.CreateRet(b_.getInt32(number));
}

void ThoroughEmitter::publish_counts() {
  auto put = [&](std::size_t offset, llvm::AllocaInst* from) {
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), from),
                   b_.CreateConstGEP1_64(b_.getInt8Ty(), context_pointer_, offset));
  };
  put(offsetof(CompiledContext, executed), executed_);
  put(offsetof(CompiledContext, idle), idle_);
}

void ThoroughEmitter::load_at_entry(const vgpu::CompiledRegister& item) {
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

void ThoroughEmitter::store_at_exit(const vgpu::CompiledRegister& item) {
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

void ThoroughEmitter::shuffle_lanes(const ptx::Instruction& at, ptx::RegisterId result,
                                    const std::vector<int>& pick) {
  Value* values = vector(at.operands[1], Type::b32);
  Value* moved = b_.CreateShuffleVector(values, pick);
  if (!job_.full) {
    // A source lane that does not run: the reading lane keeps its own value.
    Value* runs = b_.CreateShuffleVector(lanes_of_mask(mask_), pick);
    moved = b_.CreateSelect(runs, moved, values);
  }
  write_vector(result, moved);
}

namespace {

// The type whose canonical NaN is the only one an instruction gives; none if there is no such type.
Type canonical_result(const ptx::Instruction& at) {
  const Type type = at.types.empty() ? Type::none : at.types.front();
  if (type != Type::f32 && type != Type::f16 && type != Type::f16x2)
    return Type::none;
  switch (at.opcode) {
  case ptx::Opcode::add:
  case ptx::Opcode::sub:
  case ptx::Opcode::mul:
  case ptx::Opcode::mad:
  case ptx::Opcode::fma_:
  case ptx::Opcode::min_:
  case ptx::Opcode::max_:
  case ptx::Opcode::cvt: return type;
  default: return Type::none;
  }
}

bool is_nan_free(const Operand& constant, Type type) {
  const std::uint64_t bits = vgpu::immediate_bits(constant, type);
  auto is_half = [](std::uint64_t half) { return (half & 0x7FFFU) <= 0x7C00U; };
  return type == Type::f32 ? (bits & 0x7FFFFFFFU) <= 0x7F800000U
                           : is_half(bits) && is_half(bits >> 16);
}

} // namespace

// A NaN result of f32 or f16 arithmetic is always the same one. Where a register takes nothing but
// such results, that is seen to when its bits are looked at instead of after every operation.
void ThoroughEmitter::find_canonical_registers() {
  enum class Kind : std::uint8_t { open, decided, mixed };
  struct Finding {
    Kind kind = Kind::open;
    Type type = Type::none;
    void meet(const Finding& other) {
      if (other.kind == Kind::open)
        return;
      if (kind == Kind::open)
        *this = other;
      else if (kind != other.kind || type != other.type)
        *this = {Kind::mixed, Type::none};
    }
    bool operator==(const Finding&) const = default;
  };
  const Finding mixed{Kind::mixed, Type::none};
  std::vector<Finding> found(canonical_later_.size());
  auto read = [&](const Operand& from, Type type) {
    if (from.kind == Operand::Kind::reg)
      return found[from.reg];
    const bool constant = from.kind == Operand::Kind::integer || from.kind == Operand::Kind::real32;
    if (!constant || !is_nan_free(from, type))
      return mixed;
    return type == Type::f32 ? Finding{Kind::decided, type} : Finding{};
  };
  auto written = [&](std::uint32_t i, ptx::RegisterId reg) {
    const ptx::Instruction& at = source_.instructions[i];
    const int bits = ptx::bits_of(source_.registers[reg].type);
    if (plan_.treatment[i] != Treatment::inlined || plan_.home[reg] == Home::frame ||
        at.operands[0].kind != Operand::Kind::reg)
      return mixed;
    Finding result;
    if (at.opcode == ptx::Opcode::mov || at.opcode == ptx::Opcode::selp) {
      if (ptx::bits_of(at.type()) != bits)
        return mixed;
      result = read(at.operands[1], at.type());
      if (at.opcode == ptx::Opcode::selp)
        result.meet(read(at.operands[2], at.type()));
      return result;
    }
    const Type type = canonical_result(at);
    return type != Type::none && ptx::bits_of(type) == bits ? Finding{Kind::decided, type} : mixed;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < source_.instructions.size(); ++i)
      for (const ptx::RegisterId reg : plan_.liveness.effects[i].writes) {
        const Finding before = found[reg];
        found[reg].meet(written(i, reg));
        changed = changed || !(found[reg] == before);
      }
  }
  for (ptx::RegisterId reg = 0; reg < found.size(); ++reg)
    canonical_later_[reg] = found[reg].type;
}

} // namespace kernevo::jit
