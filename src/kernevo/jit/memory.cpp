// ld and st. The common case is decided by a few scalar instructions: all lanes inside the
// allocation (or the block's shared memory) that this instruction hit last, and aligned. Whatever
// else happens is the interpreter's handler's business, and its to report.
#include "kernevo/jit/emitter.h"

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

namespace {

constexpr std::uint64_t kSector = 32;

const Operand& address_operand(const Instruction& at) {
  return *std::find_if(at.operands.begin(), at.operands.end(), [](const Operand& operand) {
    return operand.kind == Operand::Kind::address;
  });
}

std::uint64_t span_of(const Address& address, unsigned size) {
  const std::uint64_t stride = address.stride < 0 ? static_cast<std::uint64_t>(-address.stride)
                                                  : static_cast<std::uint64_t>(address.stride);
  return address.straight ? stride * (address.group - 1) + size : size;
}

} // namespace

std::vector<const Operand*> Emitter::data_operands(const Instruction& at) const {
  const Operand& data = at.operands[at.opcode == Opcode::ld ? 0 : 1];
  std::vector<const Operand*> result;
  if (data.kind == Operand::Kind::vector)
    for (const Operand& element : data.elements)
      result.push_back(&element);
  else
    result.push_back(&data);
  return result;
}

void Emitter::emit_parameter_load(const Instruction& at) {
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

Address Emitter::address_of(const Operand& operand, unsigned size) {
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

Value* Emitter::address_lanes(Address& address) {
  if (address.lanes == nullptr)
    address.lanes = expand(address.bases, address.stride, address.group);
  return address.lanes;
}

// The lowest address of a group: its first lane's, or its last one's.
Value* Emitter::lowest_lane(const Address& address, Value* base) {
  if (address.stride >= 0)
    return base;
  return b_.CreateAdd(base, i64(static_cast<std::uint64_t>(address.stride * (address.group - 1))));
}

// Is every lane's access inside `room` slots of `size` bytes from base? Turning the distance right
// by the size's bits makes a misaligned one huge.
Value* Emitter::fits(Address& address, Value* base, Value* room, unsigned size) {
  const unsigned shift = static_cast<unsigned>(std::countr_zero(size));
  auto slot = [&](Value* value, Value* from) {
    Value* distance = from == nullptr ? value : b_.CreateSub(value, from);
    if (shift == 0)
      return distance;
    if (plan_.light) // the fast instruction selector knows no funnel shift
      return b_.CreateOr(b_.CreateLShr(distance, i64(shift)),
                         b_.CreateShl(distance, i64(64 - shift)));
    return static_cast<Value*>(b_.CreateIntrinsic(
        llvm::Intrinsic::fshr, {distance->getType()},
        {distance, distance, llvm::ConstantInt::get(distance->getType(), shift)}));
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
Value* Emitter::shared_room(std::uint64_t span, unsigned size) {
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

void Emitter::emit_memory(const Instruction& at, std::uint32_t instruction) {
  if (at.space == Space::param) {
    emit_parameter_load(at);
    return;
  }
  if (plan_.light) {
    emit_light_memory(at, instruction);
    return;
  }
  if (plan_.check_of[instruction] != kNone) {
    emit_checked_memory(at, instruction);
    return;
  }
  llvm::BasicBlock* done = new_block("done");
  if (guard_mask_ != nullptr) {
    llvm::BasicBlock* some = new_block("some");
    b_.CreateCondBr(b_.CreateICmpEQ(active(), i32(0)), done, some);
    b_.SetInsertPoint(some);
  }
  const bool store = at.opcode == Opcode::st;
  const auto elements = static_cast<unsigned>(data_operands(at).size());
  const unsigned size = elements * static_cast<unsigned>(ptx::bytes_of(at.type()));
  Address address = address_of(address_operand(at), size);
  const std::uint64_t span = span_of(address, size);
  const bool shared = at.space == Space::shared;
  Value* hit = shared ? nullptr : hit_of(instruction);
  Value* inside = is_inside(address, hit, span, size);
  llvm::BasicBlock* fast = new_block("fast");
  llvm::BasicBlock* slow = new_block("slow");
  auto* decision = b_.CreateCondBr(inside, fast, slow);
  decision->setMetadata(llvm::LLVMContext::MD_prof,
                        llvm::MDBuilder(context_).createBranchWeights(1000, 1));

  b_.SetInsertPoint(fast);
  transfer(at, address, hit, size);
  b_.CreateBr(done);

  b_.SetInsertPoint(slow);
  if (!shared)
    call_find(hit, address, span, size, store);
  call_handlers(instruction);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

// An access that a check of its group covers; the first of the group makes it.
void Emitter::emit_checked_memory(const Instruction& at, std::uint32_t instruction) {
  const AccessCheck& check = plan_.checks[plan_.check_of[instruction]];
  Address address = address_of(address_operand(at), check.size);
  Value* hit = at.space == Space::shared ? nullptr : hit_of(instruction);
  if (check.instruction == instruction)
    emit_check(check, address, hit);
  transfer(at, address, hit, check.size);
}

// The access itself, which is known to be inside; `hit` is null for shared memory.
void Emitter::transfer(const Instruction& at, Address& address, Value* hit, unsigned size) {
  if (job_.counting && hit != nullptr)
    count_access(at, address, size);
  Value* host = hit == nullptr ? shared_ : nullptr;
  if (at.opcode == Opcode::ld) {
    load_lanes(at, address, host, size);
    return;
  }
  store_lanes(at, address, host, size);
  if (hit != nullptr)
    mark_stored(hit, address, size);
}

void Emitter::mark_stored(Value* hit, Address& address, unsigned size) {
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

Value* Emitter::hit_of(std::uint32_t instruction) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), hits_, plan_.hit[instruction] * sizeof(MemoryHit));
}

// Inside what it hit last, or inside shared memory when `hit` is null.
Value* Emitter::is_inside(Address& address, Value* hit, std::uint64_t span, unsigned size) {
  if (hit == nullptr)
    return fits(address, nullptr, shared_room(span, size), size);
  auto part = [&](std::size_t offset) {
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), hit, offset));
  };
  return fits(address, part(offsetof(MemoryHit, base)), part(offsetof(MemoryHit, room)), size);
}

// Leaves when any lane of any access of the group would miss what the group hit last.
void Emitter::emit_check(const AccessCheck& check, const Address& address, Value* hit) {
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
      span_of(address, check.size) + static_cast<std::uint64_t>(check.high - check.low);
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

void Emitter::call_mark(Value* hit, Address& address, unsigned size) {
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(),
      {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty()}, false);
  b_.CreateCall(type, service(offsetof(vgpu::CompiledServices, mark)),
                {context_pointer_, hit, addresses_on_stack(address), active(), i32(size)});
}

// The next time round this is the place the access hit last.
void Emitter::call_find(Value* hit, const Address& address, std::uint64_t span, unsigned size,
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

Value* Emitter::service(std::size_t offset) {
  return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getInt8Ty(), services_, offset));
}

Value* Emitter::addresses_on_stack(Address& address) {
  if (plan_.light)
    return expanded_addresses(address);
  auto* place = stack(lanes_of(b_.getInt64Ty()), "addresses");
  b_.CreateStore(address_lanes(address), place);
  return place;
}

// Widens what memory held to the register and writes it; a scalar goes to all lanes.
void Emitter::write_loaded(const Instruction& at, std::size_t index, Value* value) {
  const Operand& operand = *data_operands(at)[index];
  const ptx::RegisterId reg = operand.reg;
  llvm::Type* own = element(source_.registers[reg].type);
  const unsigned have = value->getType()->getScalarSizeInBits();
  const auto want = static_cast<unsigned>(own->getPrimitiveSizeInBits());
  if (have != want) {
    value = as(value, b_.getIntNTy(have));
    llvm::Type* type = b_.getIntNTy(want);
    if (value->getType()->isVectorTy())
      type = lanes_of(type);
    value = have > want                 ? b_.CreateTrunc(value, type)
            : ptx::is_signed(at.type()) ? b_.CreateSExt(value, type)
                                        : b_.CreateZExt(value, type);
  }
  if (plan_.home[reg] == Home::scalar) {
    write_scalar(reg, 0, value);
    return;
  }
  if (plan_.light) {
    write_lanes(reg, as(value, own));
    return;
  }
  if (!value->getType()->isVectorTy())
    value = b_.CreateVectorSplat(kLanes, as(value, own));
  write_vector(reg, value);
}

void Emitter::load_lanes(const Instruction& at, Address& address, Value* host, unsigned size) {
  llvm::Type* type = element(at.type());
  const auto bytes = static_cast<unsigned>(ptx::bytes_of(at.type()));
  const auto align = llvm::Align(bytes);
  const auto count = static_cast<unsigned>(data_operands(at).size());
  auto pointer = [&](Value* where) -> Value* {
    return host != nullptr ? b_.CreateGEP(b_.getInt8Ty(), host, where)
                           : b_.CreateIntToPtr(where, b_.getPtrTy());
  };
  std::vector<Value*> loaded;
  if (address.straight && address.stride == 0) {
    std::vector<std::vector<Value*>> parts(count);
    for (Value* base : address.bases) {
      Value* from = pointer(base);
      for (unsigned i = 0; i < count; ++i)
        parts[i].push_back(b_.CreateAlignedLoad(type, b_.CreateConstGEP1_64(type, from, i), align));
    }
    for (unsigned i = 0; i < count; ++i)
      loaded.push_back(parts[i].size() == 1 ? parts[i].front()
                                            : expand(parts[i], 0, address.group));
  } else if (address.straight && address.stride == static_cast<std::int64_t>(size)) {
    const unsigned group = address.group * count;
    Value* all = nullptr;
    unsigned have = 0;
    for (Value* base : address.bases) {
      Value* part =
          b_.CreateAlignedLoad(llvm::FixedVectorType::get(type, group), pointer(base), align);
      all = all == nullptr ? part : concatenate(all, have, part, group);
      have += group;
    }
    for (unsigned i = 0; i < count; ++i) {
      if (count == 1) {
        loaded.push_back(all);
        continue;
      }
      std::vector<int> pick;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        pick.push_back(static_cast<int>(lane * count + i));
      loaded.push_back(b_.CreateShuffleVector(all, pick));
    }
  } else {
    Value* where = address_lanes(address);
    Value* lanes = lanes_of_mask(active());
    Value* pointers = host != nullptr ? b_.CreateGEP(b_.getInt8Ty(), host, where)
                                      : b_.CreateIntToPtr(where, lanes_of(b_.getPtrTy()));
    for (unsigned i = 0; i < count; ++i)
      loaded.push_back(b_.CreateMaskedGather(lanes_of(type), b_.CreateGEP(type, pointers, i64(i)),
                                             align, lanes,
                                             llvm::Constant::getNullValue(lanes_of(type))));
  }
  for (unsigned i = 0; i < count; ++i)
    write_loaded(at, i, loaded[i]);
}

Value* Emitter::concatenate(Value* a, unsigned have, Value* b, unsigned more) {
  std::vector<int> grow;
  for (unsigned i = 0; i < have; ++i)
    grow.push_back(i < more ? static_cast<int>(i) : -1);
  Value* padded = have == more ? b : b_.CreateShuffleVector(b, grow);
  std::vector<int> pick;
  for (unsigned i = 0; i < have; ++i)
    pick.push_back(static_cast<int>(i));
  for (unsigned i = 0; i < more; ++i)
    pick.push_back(static_cast<int>(have + i));
  return b_.CreateShuffleVector(a, padded, pick);
}

// The value of a data operand, cut to the size of memory.
Value* Emitter::stored_value(const Instruction& at, std::size_t index, bool lanes) {
  const Operand& operand = *data_operands(at)[index];
  const Type declared =
      operand.kind == Operand::Kind::reg ? source_.registers[operand.reg].type : at.type();
  Value* value = lanes ? vector(operand, declared) : scalar(operand, declared);
  llvm::Type* type = element(at.type());
  const unsigned have = value->getType()->getScalarSizeInBits();
  const auto want = static_cast<unsigned>(type->getPrimitiveSizeInBits());
  if (have > want) {
    llvm::Type* narrow = b_.getIntNTy(want);
    if (lanes)
      narrow = lanes_of(narrow);
    value = b_.CreateTrunc(as(value, b_.getIntNTy(have)), narrow);
  }
  return as(value, type);
}

void Emitter::store_lanes(const Instruction& at, Address& address, Value* host, unsigned size) {
  llvm::Type* type = element(at.type());
  const auto bytes = static_cast<unsigned>(ptx::bytes_of(at.type()));
  const auto align = llvm::Align(bytes);
  const auto data = data_operands(at);
  const auto count = static_cast<unsigned>(data.size());
  auto pointer = [&](Value* where) -> Value* {
    return host != nullptr ? b_.CreateGEP(b_.getInt8Ty(), host, where)
                           : b_.CreateIntToPtr(where, b_.getPtrTy());
  };
  const bool whole = job_.full && guard_mask_ == nullptr;
  if (address.straight && address.stride == 0 && address.group == kLanes) {
    // All lanes to one place: the last of them is what stays.
    Value* last = i32(kLanes - 1);
    if (!whole)
      last = b_.CreateSub(i32(kLanes - 1),
                          b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, active(), b_.getTrue()));
    for (unsigned i = 0; i < count; ++i) {
      Value* value = is_uniform(*data[i])
                         ? stored_value(at, i, false)
                         : b_.CreateExtractElement(stored_value(at, i, true), last);
      b_.CreateAlignedStore(value, b_.CreateConstGEP1_64(type, pointer(address.bases.front()), i),
                            align);
    }
    return;
  }
  const bool dense = address.straight && address.stride == static_cast<std::int64_t>(size);
  if (dense && (count == 1 || whole)) {
    Value* all = nullptr;
    if (count == 1) {
      all = stored_value(at, 0, true);
    } else {
      // Lane after lane, element after element.
      unsigned have = kLanes;
      all = stored_value(at, 0, true);
      for (unsigned i = 1; i < count; ++i) {
        all = concatenate(all, have, stored_value(at, i, true), kLanes);
        have += kLanes;
      }
      std::vector<int> order;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        for (unsigned i = 0; i < count; ++i)
          order.push_back(static_cast<int>(i * kLanes + lane));
      all = b_.CreateShuffleVector(all, order);
    }
    const unsigned part = address.group * count;
    Value* lanes = whole ? nullptr : lanes_of_mask(active());
    for (unsigned i = 0; i < address.bases.size(); ++i) {
      Value* piece = all;
      Value* piece_lanes = lanes;
      if (address.bases.size() > 1) {
        std::vector<int> pick;
        for (unsigned k = 0; k < part; ++k)
          pick.push_back(static_cast<int>(i * part + k));
        piece = b_.CreateShuffleVector(all, pick);
        if (lanes != nullptr)
          piece_lanes = b_.CreateShuffleVector(lanes, pick);
      }
      if (piece_lanes == nullptr)
        b_.CreateAlignedStore(piece, pointer(address.bases[i]), align);
      else
        b_.CreateMaskedStore(piece, pointer(address.bases[i]), align, piece_lanes);
    }
    return;
  }
  Value* where = address_lanes(address);
  Value* pointers = host != nullptr ? b_.CreateGEP(b_.getInt8Ty(), host, where)
                                    : b_.CreateIntToPtr(where, lanes_of(b_.getPtrTy()));
  Value* lanes = lanes_of_mask(active());
  for (unsigned i = 0; i < count; ++i)
    b_.CreateMaskedScatter(stored_value(at, i, true), b_.CreateGEP(type, pointers, i64(i)), align,
                           lanes);
}

bool Emitter::counts_simply(const Address& address) const {
  return address.straight && address.group == kLanes && address.stride >= 0 &&
         address.stride <= static_cast<std::int64_t>(kSector) && job_.full &&
         guard_mask_ == nullptr;
}

// One request and the 32-byte sectors it touches.
void Emitter::count_access(const Instruction& at, Address& address, unsigned size) {
  const bool store = at.opcode == Opcode::st;
  if (!counts_simply(address)) {
    auto* type = llvm::FunctionType::get(
        b_.getVoidTy(),
        {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty(), b_.getInt32Ty()}, false);
    b_.CreateCall(
        type, service(offsetof(vgpu::CompiledServices, count)),
        {context_pointer_, addresses_on_stack(address), active(), i32(size), i32(store ? 1 : 0)});
    return;
  }
  auto add = [&](std::size_t offset, Value* more) {
    Value* place = b_.CreateConstGEP1_64(b_.getInt8Ty(), counters_, offset);
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), place), more), place);
  };
  Value* first = address.bases.front();
  Value* last = b_.CreateAdd(first, i64(span_of(address, size) - 1));
  Value* sectors =
      b_.CreateAdd(b_.CreateSub(b_.CreateLShr(last, i64(5)), b_.CreateLShr(first, i64(5))), i64(1));
  using vgpu::MemoryCounters;
  add(store ? offsetof(MemoryCounters, global_store_requests)
            : offsetof(MemoryCounters, global_load_requests),
      i64(1));
  add(store ? offsetof(MemoryCounters, global_store_sectors)
            : offsetof(MemoryCounters, global_load_sectors),
      sectors);
}

} // namespace kernevo::jit
