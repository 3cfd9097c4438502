// ld and st in light code: short where a check or the last hit says that all lanes are inside, and
// else the interpreter's handler.
#include "kernevo/jit/emit/light_emitter.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

Value* LightEmitter::addresses_on_stack(Address& address) {
  if (addresses_ == nullptr)
    addresses_ = stack(llvm::ArrayType::get(b_.getInt64Ty(), kLanes + 4), "addresses");
  Value* bases = b_.CreateConstGEP1_64(b_.getInt64Ty(), addresses_, kLanes);
  for (unsigned i = 0; i < address.bases.size(); ++i)
    b_.CreateStore(address.bases[i], b_.CreateConstGEP1_64(b_.getInt64Ty(), bases, i));
  call_native("kv_expand_64", {addresses_, bases, i64(static_cast<std::uint64_t>(address.stride)),
                               i32(address.group), i32(vgpu::kAllLanes)});
  return addresses_;
}

Value* LightEmitter::turn_right(Value* value, unsigned bits) {
  // The fast instruction selector knows no funnel shift.
  return b_.CreateOr(b_.CreateLShr(value, i64(bits)), b_.CreateShl(value, i64(64 - bits)));
}

// A straight access to what its group's check has found goes the short way; everything else is the
// handler's business.
void LightEmitter::emit_access(const Instruction& at, std::uint32_t instruction) {
  if (plan_.check_of[instruction] == kNone) {
    if (is_lane_access(at))
      emit_lane_access(at, instruction);
    else
      emit_handler(instruction);
    return;
  }
  const AccessCheck& check = plan_.checks[plan_.check_of[instruction]];
  Address address = address_of(address_operand(at), check.size);
  Value* hit = at.space == ptx::Space::shared ? nullptr : hit_of(instruction);
  if (check.instruction == instruction)
    emit_check(check, address, hit);
  if (!is_plain_transfer(at, address, check.size, hit != nullptr)) {
    if (!is_lane_access(at)) {
      emit_handler(instruction);
      return;
    }
    // The check has seen to it that every lane is inside.
    access_lanes(at, i64(0), i64(~std::uint64_t{0}), hit == nullptr ? shared_ : nullptr);
    if (at.opcode == Opcode::st && hit != nullptr)
      mark_stored(hit, address, check.size);
    return;
  }
  if (job_.counting && hit != nullptr)
    count_access(at, address, check.size);
  Value* host = hit == nullptr ? shared_ : nullptr;
  if (at.opcode == Opcode::ld) {
    load_light(at, address, host);
    return;
  }
  store_light(at, address, host);
  if (hit != nullptr)
    mark_stored(hit, address, check.size);
}

// One value for each lane, somewhere.
bool LightEmitter::is_lane_access(const Instruction& at) const {
  const auto data = data_operands(at);
  const bool global = at.space != ptx::Space::shared;
  return job_.full && guard_mask_ == nullptr && !(job_.counting && global) && data.size() == 1 &&
         data.front()->kind == Operand::Kind::reg && ptx::bytes_of(at.type()) >= 2 &&
         ptx::bytes_of(at.type()) == ptx::bytes_of(source_.registers[data.front()->reg].type) &&
         address_operand(at).elements.front().kind == Operand::Kind::reg;
}

// Loads or stores lane by lane; says whether every lane was inside, nothing has happened otherwise.
Value* LightEmitter::access_lanes(const Instruction& at, Value* base, Value* room, Value* host) {
  const Operand& place = address_operand(at);
  const ptx::RegisterId from = place.elements.front().reg;
  const ptx::RegisterId data = data_operands(at).front()->reg;
  store_for_handler(from);
  if (at.opcode == Opcode::st)
    store_for_handler(data);
  const Operands arguments = {in_frame(code_.register_slots[data]),
                              in_frame(code_.register_slots[from]),
                              i64(static_cast<std::uint64_t>(place.offset)),
                              base,
                              room,
                              host == nullptr ? i64(0) : b_.CreatePtrToInt(host, b_.getInt64Ty())};
  std::vector<llvm::Type*> types;
  for (const Value* argument : arguments)
    types.push_back(argument->getType());
  const std::string name =
      fmt::format("kv_{}{}_{}", at.opcode == Opcode::ld ? "gather" : "scatter",
                  8 * ptx::bytes_of(source_.registers[from].type), ptx::bits_of(at.type()));
  Value* inside = b_.CreateCall(
      module_->getOrInsertFunction(name, llvm::FunctionType::get(b_.getInt32Ty(), types, false)),
      arguments);
  if (at.opcode == Opcode::ld)
    reload_from_handler(data);
  return b_.CreateICmpNE(inside, i32(0));
}

void LightEmitter::emit_lane_access(const Instruction& at, std::uint32_t instruction) {
  const Operand& place = address_operand(at);
  const ptx::RegisterId from = place.elements.front().reg;
  const auto size = static_cast<unsigned>(ptx::bytes_of(at.type()));
  const bool shared = at.space == ptx::Space::shared;
  Value* hit = shared ? nullptr : hit_of(instruction);
  auto part = [&](std::size_t offset) {
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), hit, offset));
  };
  llvm::BasicBlock* done = new_block("done");
  llvm::BasicBlock* slow = new_block("slow");
  // Where flags say what was written, the handler sets them.
  if (!shared && at.opcode == Opcode::st) {
    llvm::BasicBlock* fast = new_block("fast");
    b_.CreateCondBr(b_.CreateICmpEQ(part(offsetof(vgpu::MemoryHit, written)), i64(0)), fast, slow);
    b_.SetInsertPoint(fast);
    certain_ = false;
  }
  Value* inside = shared ? access_lanes(at, i64(0), shared_room(size, size), shared_)
                         : access_lanes(at, part(offsetof(vgpu::MemoryHit, base)),
                                        part(offsetof(vgpu::MemoryHit, room)), nullptr);
  b_.CreateCondBr(inside, done, slow);
  b_.SetInsertPoint(slow);
  certain_ = false;
  if (!shared) {
    // The next time round this is the place the access hit last.
    store_for_handler(from);
    const bool wide = ptx::bytes_of(source_.registers[from].type) == 8;
    Address address;
    address.straight = true;
    Value* first = b_.CreateLoad(wide ? b_.getInt64Ty() : b_.getInt32Ty(),
                                 in_frame(code_.register_slots[from]));
    first = b_.CreateAdd(
        first, llvm::ConstantInt::get(first->getType(), static_cast<std::uint64_t>(place.offset)));
    address.bases.push_back(b_.CreateZExt(first, b_.getInt64Ty()));
    call_find(hit, address, size, size, at.opcode == Opcode::st);
  }
  call_handlers(instruction);
  certain_ = true;
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

bool LightEmitter::is_plain_transfer(const Instruction& at, const Address& address, unsigned size,
                                     bool global) const {
  const auto data = data_operands(at);
  if (address.group != kLanes || (job_.counting && global && !counts_simply(address)))
    return false;
  const bool store = at.opcode == Opcode::st;
  if (address.stride == 0)
    return !store || job_.full;
  const int bytes = ptx::bytes_of(at.type());
  if (!job_.full || address.stride != static_cast<std::int64_t>(size) ||
      (data.size() != 1 && data.size() != 2 && data.size() != 4) || bytes < 2)
    return data.size() == 1 && job_.full && address.stride == static_cast<std::int64_t>(size) &&
           store && is_uniform(*data.front());
  return std::all_of(data.begin(), data.end(), [&](const Operand* operand) {
    if (operand->kind != Operand::Kind::reg)
      return store && data.size() == 1;
    return ptx::bytes_of(source_.registers[operand->reg].type) == bytes;
  });
}

void LightEmitter::load_light(const Instruction& at, const Address& address, Value* host) {
  Value* first = address.bases.front();
  Value* from = host != nullptr ? b_.CreateGEP(b_.getInt8Ty(), host, first)
                                : b_.CreateIntToPtr(first, b_.getPtrTy());
  const auto data = data_operands(at);
  if (address.stride == 0) {
    // All places are read before a register is written: one may hold the address.
    std::vector<Value*> loaded;
    llvm::Type* type = element(at.type());
    for (unsigned i = 0; i < data.size(); ++i)
      loaded.push_back(
          b_.CreateAlignedLoad(type, b_.CreateConstGEP1_64(type, from, i),
                               llvm::Align(static_cast<std::uint64_t>(ptx::bytes_of(at.type())))));
    for (unsigned i = 0; i < data.size(); ++i)
      write_loaded(at, i, loaded[i]);
    return;
  }
  Operands arguments;
  for (const Operand* operand : data)
    arguments.push_back(in_frame(code_.register_slots[operand->reg]));
  arguments.push_back(from);
  call_native(data.size() == 1 ? fmt::format("kv_copy_{}", ptx::bits_of(at.type()))
                               : fmt::format("kv_split{}_{}", data.size(), ptx::bits_of(at.type())),
              arguments);
}

void LightEmitter::store_light(const Instruction& at, const Address& address, Value* host) {
  Value* first = address.bases.front();
  Value* to = host != nullptr ? b_.CreateGEP(b_.getInt8Ty(), host, first)
                              : b_.CreateIntToPtr(first, b_.getPtrTy());
  const auto data = data_operands(at);
  const int bytes = ptx::bytes_of(at.type());
  if (address.stride == 0) {
    // All lanes to one place: the last of them is what stays.
    llvm::Type* type = element(at.type());
    for (unsigned i = 0; i < data.size(); ++i) {
      Value* value = nullptr;
      if (is_uniform(*data[i])) {
        value = stored_value(at, i, false);
      } else {
        const ptx::RegisterId reg = data[i]->reg;
        store_for_handler(reg);
        const auto width = static_cast<std::uint32_t>(ptx::bytes_of(source_.registers[reg].type));
        value = b_.CreateLoad(type, in_frame(code_.register_slots[reg] + (kLanes - 1) * width));
      }
      b_.CreateAlignedStore(value, b_.CreateConstGEP1_64(type, to, i),
                            llvm::Align(static_cast<std::uint64_t>(bytes)));
    }
    return;
  }
  if (data.size() == 1 && is_uniform(*data.front())) {
    splat(to, stored_value(at, 0, false));
    return;
  }
  Operands arguments = {to};
  for (const Operand* operand : data) {
    store_for_handler(operand->reg);
    arguments.push_back(in_frame(code_.register_slots[operand->reg]));
  }
  call_native(data.size() == 1 ? fmt::format("kv_copy_{}", ptx::bits_of(at.type()))
                               : fmt::format("kv_join{}_{}", data.size(), ptx::bits_of(at.type())),
              arguments);
}

} // namespace kernevo::jit
