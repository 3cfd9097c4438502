#include "kernevo/jit/emit/memory_writer.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using vgpu::MemoryHit;

const Operand& address_operand(const Instruction& at) {
  return *std::find_if(at.operands.begin(), at.operands.end(), [](const Operand& operand) {
    return operand.kind == Operand::Kind::address;
  });
}

std::vector<const Operand*> MemoryWriter::data_operands(const Instruction& at) const {
  const Operand& data = at.operands[at.opcode == Opcode::ld ? 0 : 1];
  std::vector<const Operand*> result;
  if (data.kind == Operand::Kind::vector)
    for (const Operand& element : data.elements)
      result.push_back(&element);
  else
    result.push_back(&data);
  return result;
}

void MemoryWriter::emit_parameter_load(const Instruction& at) {
  const Operand& place = at.operands[1];
  const Operand& base = place.elements.front();
  std::uint64_t offset = static_cast<std::uint64_t>(place.offset + base.offset);
  for (std::size_t i = 0; i < source_.parameters.size(); ++i)
    if (source_.parameters[i].name == base.name)
      offset += code_.parameters[i].offset;
  const auto data = data_operands(at);
  llvm::Type* type = element(at.type());
  for (std::size_t i = 0; i < data.size(); ++i) {
    Value* value = b_.CreateAlignedLoad(
        type,
        b_.CreateConstGEP1_64(b_.getInt8Ty(), parameters_,
                              offset + i * static_cast<std::uint64_t>(ptx::bytes_of(at.type()))),
        llvm::Align(1));
    write_loaded(at, i, value);
  }
}

Address MemoryWriter::address_of(const Operand& operand, unsigned size) {
  const Operand& base = operand.elements.front();
  Address address;
  Type type = Type::u64;
  if (base.kind == Operand::Kind::reg)
    type = ptx::bytes_of(source_.registers[base.reg].type) == 8 ? Type::u64 : Type::u32;
  const auto shape_of_base = shape(base);
  auto finish = [&](Value* value) {
    value = b_.CreateAdd(value, llvm::ConstantInt::get(value->getType(),
                                                       static_cast<std::uint64_t>(operand.offset)));
    llvm::Type* wide = b_.getInt64Ty();
    return b_.CreateZExt(
        value, value->getType()->isVectorTy() ? static_cast<llvm::Type*>(lanes_of(wide)) : wide);
  };
  const bool straight = !shape_of_base.is_varying() &&
                        (base.kind != Operand::Kind::reg || plan_.home[base.reg] == Home::scalar) &&
                        shape_of_base.stride % static_cast<std::int64_t>(size) == 0;
  if (!straight) {
    address.lanes = finish(vector(base, type));
    return address;
  }
  address.straight = true;
  address.narrow = type == Type::u32;
  address.group = shape_of_base.group;
  address.stride = shape_of_base.stride;
  for (unsigned i = 0; i < kLanes / address.group; ++i)
    address.bases.push_back(finish(first_lane(base, type, address.group, i)));
  return address;
}

Value* MemoryWriter::address_lanes(Address& address) {
  if (address.lanes == nullptr)
    address.lanes = expand(address.bases, address.stride, address.group);
  return address.lanes;
}

// The lowest address of a group: its first lane's, or its last one's.
Value* MemoryWriter::lowest_lane(const Address& address, Value* base) {
  if (address.stride >= 0)
    return base;
  return b_.CreateAdd(base, i64(static_cast<std::uint64_t>(address.stride * (address.group - 1))));
}

// Is every lane's access inside `room` slots of `size` bytes from base? Turning the distance right
// by the size's bits makes a misaligned one huge.
Value* MemoryWriter::fits(Address& address, Value* base, Value* room, unsigned size) {
  const unsigned shift = static_cast<unsigned>(std::countr_zero(size));
  auto slot = [&](Value* value, Value* from) {
    Value* distance = from == nullptr ? value : b_.CreateSub(value, from);
    if (shift == 0)
      return distance;
    return turn_right(distance, shift);
  };
  if (!address.straight) {
    Value* from = base == nullptr ? nullptr : b_.CreateVectorSplat(kLanes, base);
    Value* inside = mask_of_lanes(
        b_.CreateICmpULT(slot(address.lanes, from), b_.CreateVectorSplat(kLanes, room)));
    Value* wanted = active();
    return b_.CreateICmpEQ(b_.CreateAnd(inside, wanted), wanted);
  }
  Value* result = nullptr;
  for (Value* first : address.bases) {
    Value* inside = b_.CreateICmpULT(slot(lowest_lane(address, first), base), room);
    result = result == nullptr ? inside : b_.CreateAnd(result, inside);
  }
  return result;
}

// Slots of shared memory at which an access of this span may start.
Value* MemoryWriter::shared_room(std::uint64_t span, unsigned size) {
  auto& room = shared_rooms_[{span, size}];
  if (room == nullptr) {
    Value* left = prologue_.CreateSub(shared_bytes_, i64(span));
    Value* slots = prologue_.CreateAdd(
        prologue_.CreateLShr(left, i64(static_cast<std::uint64_t>(std::countr_zero(size)))),
        i64(1));
    room = prologue_.CreateSelect(prologue_.CreateICmpULT(shared_bytes_, i64(span)), i64(0), slots);
  }
  return room;
}

void MemoryWriter::emit_memory(const Instruction& at, std::uint32_t instruction) {
  if (at.space == Space::param)
    emit_parameter_load(at);
  else
    emit_access(at, instruction);
}

void MemoryWriter::mark_stored(Value* hit, Address& address, unsigned size) {
  Value* flags = b_.CreateLoad(
      b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getInt8Ty(), hit, offsetof(MemoryHit, written)));
  llvm::BasicBlock* mark = new_block("mark");
  llvm::BasicBlock* marked = new_block("marked");
  b_.CreateCondBr(b_.CreateIsNull(flags), marked, mark);
  b_.SetInsertPoint(mark);
  call_mark(hit, address, size);
  b_.CreateBr(marked);
  b_.SetInsertPoint(marked);
}

Value* MemoryWriter::hit_of(std::uint32_t instruction) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), hits_, plan_.hit[instruction] * sizeof(MemoryHit));
}

// Inside what it hit last, or inside shared memory when `hit` is null.
Value* MemoryWriter::is_inside(Address& address, Value* hit, std::uint64_t span, unsigned size) {
  if (hit == nullptr)
    return fits(address, nullptr, shared_room(span, size), size);
  auto part = [&](std::size_t offset) {
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), hit, offset));
  };
  return fits(address, part(offsetof(MemoryHit, base)), part(offsetof(MemoryHit, room)), size);
}

// Leaves when any lane of any access of the group would miss what the group hit last.
void MemoryWriter::emit_check(const AccessCheck& check, const Address& address, Value* hit) {
  Address lowest = address;
  lowest.lanes = nullptr;
  const auto down = static_cast<std::uint64_t>(check.low - check.first);
  for (Value*& base : lowest.bases) {
    base = b_.CreateAdd(base, i64(down));
    // Shared addresses are 32 bits wide: below zero is far outside.
    if (address.narrow)
      base = b_.CreateAnd(base, i64(0xFFFFFFFFU));
  }
  const std::uint64_t span =
      address.span(check.size) + static_cast<std::uint64_t>(check.high - check.low);
  Value* inside = is_inside(lowest, hit, span, check.size);
  if (hit == nullptr) {
    leave_unless(inside, check.instruction);
    return;
  }
  // Before the code leaves it looks for the place, to hit it the next time.
  flush_count();
  llvm::BasicBlock* stay = new_block("stay");
  llvm::BasicBlock* miss = new_block("miss");
  auto* branch = b_.CreateCondBr(inside, stay, miss);
  branch->setMetadata(llvm::LLVMContext::MD_prof,
                      llvm::MDBuilder(context_).createBranchWeights(1U << 20U, 1));
  b_.SetInsertPoint(miss);
  call_find(hit, lowest, span, check.size, check.store);
  b_.CreateBr(exit_block(check.instruction));
  b_.SetInsertPoint(stay);
}

void MemoryWriter::call_mark(Value* hit, Address& address, unsigned size) {
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(),
      {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty()}, false);
  b_.CreateCall(type, service(offsetof(vgpu::CompiledServices, mark)),
                {context_pointer_, hit, addresses_on_stack(address), active(), i32(size)});
}

// The next time round this is the place the access hit last.
void MemoryWriter::call_find(Value* hit, const Address& address, std::uint64_t span, unsigned size,
                             bool store) {
  Value* first = nullptr;
  if (address.straight) {
    first = lowest_lane(address, address.bases.front());
  } else {
    Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, active(), b_.getFalse());
    first = b_.CreateExtractElement(address.lanes, b_.CreateAnd(lane, i32(kLanes - 1)));
  }
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(),
                                        b_.getInt64Ty(), b_.getInt32Ty(), b_.getInt32Ty()},
                                       false);
  b_.CreateCall(type, service(offsetof(vgpu::CompiledServices, find)),
                {context_pointer_, hit, first, i64(span), i32(size), i32(store ? 1 : 0)});
}

} // namespace kernevo::jit
