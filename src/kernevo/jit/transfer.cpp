// The data of ld and st, once it is known where it is, and the counters of it.
#include "kernevo/jit/emitter.h"

#include <cstddef>

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr std::uint64_t kSector = 32;

} // namespace

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
  Value* last = b_.CreateAdd(first, i64(address.span(size) - 1));
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
