// ld and st. The common case is decided by a few scalar instructions: all lanes inside the
// allocation (or the block's shared memory) that this instruction hit last, and aligned. Whatever
// else happens is the interpreter's handler's business, and its to report.
#pragma once

#include "kernevo/jit/emit/handler_writer.h"

#include <map>
#include <utility>
#include <vector>

namespace kernevo::jit {

// Where the lanes of a memory instruction point.
struct Address {
  bool straight = false;
  bool narrow = false;       // 32 bits wide
  unsigned group = kLanes;   // straight: lanes with one base
  std::int64_t stride = 0;   // bytes from lane to lane
  std::vector<Value*> bases; // i64, of the first lane of each group
  Value* lanes = nullptr; // <32 x i64>, always there on demand through MemoryWriter::address_lanes

  // Bytes from the first to the last of a group.
  std::uint64_t span(unsigned size) const {
    const std::uint64_t distance =
        stride < 0 ? static_cast<std::uint64_t>(-stride) : static_cast<std::uint64_t>(stride);
    return straight ? distance * (group - 1) + size : size;
  }
};

// Where an ld or st goes.
const ptx::Operand& address_operand(const ptx::Instruction& at);

class MemoryWriter : public HandlerWriter {
protected:
  using HandlerWriter::HandlerWriter;

  void emit_memory(const ptx::Instruction& at, std::uint32_t instruction);
  // ld and st of memory that lanes address.
  virtual void emit_access(const ptx::Instruction& at, std::uint32_t instruction) = 0;

  std::vector<const ptx::Operand*> data_operands(const ptx::Instruction& at) const;
  Address address_of(const ptx::Operand& operand, unsigned size);
  Value* address_lanes(Address& address);
  // The addresses of all lanes, in memory.
  virtual Value* addresses_on_stack(Address& address) = 0;
  Value* hit_of(std::uint32_t instruction);
  Value* is_inside(Address& address, Value* hit, std::uint64_t span, unsigned size);
  Value* shared_room(std::uint64_t span, unsigned size);
  void emit_check(const AccessCheck& check, const Address& address, Value* hit);
  void call_find(Value* hit, const Address& address, std::uint64_t span, unsigned size, bool store);
  void mark_stored(Value* hit, Address& address, unsigned size);
  void write_loaded(const ptx::Instruction& at, std::size_t element, Value* value);
  Value* stored_value(const ptx::Instruction& at, std::size_t element, bool wanted_vector);
  bool counts_simply(const Address& address) const;
  void count_access(const ptx::Instruction& at, Address& address, unsigned size);
  // The bits of a word turned right.
  virtual Value* turn_right(Value* value, unsigned bits) = 0;

private:
  void emit_parameter_load(const ptx::Instruction& at);
  void call_mark(Value* hit, Address& address, unsigned size);
  Value* lowest_lane(const Address& address, Value* base);
  Value* fits(Address& address, Value* base, Value* room, unsigned size);

  std::map<std::pair<std::uint64_t, unsigned>, Value*> shared_rooms_;
};

} // namespace kernevo::jit
