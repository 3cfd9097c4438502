// The data of ld and st, and the counters of accesses.
#include "kernevo/jit/emit/memory_writer.h"

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
void MemoryWriter::write_loaded(const Instruction& at, std::size_t index, Value* value) {
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
  if (value->getType()->isVectorTy())
    write_vector(reg, value);
  else
    write_to_all(reg, as(value, own));
}

// The value of a data operand, cut to the size of memory.
Value* MemoryWriter::stored_value(const Instruction& at, std::size_t index, bool lanes) {
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

bool MemoryWriter::counts_simply(const Address& address) const {
  return address.straight && address.group == kLanes && address.stride >= 0 &&
         address.stride <= static_cast<std::int64_t>(kSector) && job_.full &&
         guard_mask_ == nullptr;
}

// One request and the 32-byte sectors it touches.
void MemoryWriter::count_access(const Instruction& at, Address& address, unsigned size) {
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
