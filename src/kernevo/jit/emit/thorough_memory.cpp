// ld and st in thorough code: vectors where the lanes are dense, gathers and scatters else.
#include "kernevo/jit/emit/thorough_emitter.h"

#include <cstddef>

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;

void ThoroughEmitter::emit_access(const Instruction& at, std::uint32_t instruction) {
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
  const std::uint64_t span = address.span(size);
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
void ThoroughEmitter::emit_checked_memory(const Instruction& at, std::uint32_t instruction) {
  const AccessCheck& check = plan_.checks[plan_.check_of[instruction]];
  Address address = address_of(address_operand(at), check.size);
  Value* hit = at.space == Space::shared ? nullptr : hit_of(instruction);
  if (check.instruction == instruction)
    emit_check(check, address, hit);
  transfer(at, address, hit, check.size);
}

// The access itself, which is known to be inside; `hit` is null for shared memory.
void ThoroughEmitter::transfer(const Instruction& at, Address& address, Value* hit, unsigned size) {
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

void ThoroughEmitter::load_lanes(const Instruction& at, Address& address, Value* host,
                                 unsigned size) {
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

Value* ThoroughEmitter::concatenate(Value* a, unsigned have, Value* b, unsigned more) {
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

void ThoroughEmitter::store_lanes(const Instruction& at, Address& address, Value* host,
                                  unsigned size) {
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

Value* ThoroughEmitter::addresses_on_stack(Address& address) {
  auto* place = stack(lanes_of(b_.getInt64Ty()), "addresses");
  b_.CreateStore(address_lanes(address), place);
  return place;
}

Value* ThoroughEmitter::turn_right(Value* value, unsigned bits) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fshr, {value->getType()},
                            {value, value, llvm::ConstantInt::get(value->getType(), bits)});
}

} // namespace kernevo::jit
