// Where control goes: segments of straight code, branches, exits, and the count of what ran.
#pragma once

#include "kernevo/jit/emit/register_writer.h"

#include <map>

namespace kernevo::jit {

class ControlWriter : public RegisterWriter {
protected:
  using RegisterWriter::RegisterWriter;

  void begin_segment(std::uint32_t instruction);
  void emit_branch(std::uint32_t instruction);
  void emit_barrier(std::uint32_t instruction);
  void emit_leave(std::uint32_t instruction);
  void require_lanes(std::uint32_t instruction);
  void leave_unless(Value* condition, std::uint32_t instruction);
  void respect_limit(std::uint32_t instruction);
  void count_instruction(std::uint32_t instruction);
  void flush_count();
  llvm::BasicBlock* exit_block(std::uint32_t instruction);
  llvm::BasicBlock* segment_at(std::uint32_t instruction);

  // Where instructions are counted, and the lanes that guards kept from them.
  virtual Value* executed() = 0;
  virtual Value* idle() = 0;
  // Puts the counts where the caller looks.
  virtual void publish_counts() = 0;
  virtual void note_segment() {}

  std::map<std::uint32_t, llvm::BasicBlock*> segments_; // by instruction
  std::map<std::uint32_t, llvm::BasicBlock*> exits_;    // by exit number
  bool reachable_ = true;

private:
  llvm::BasicBlock* way_to_target(std::uint32_t instruction);

  std::uint64_t pending_ = 0; // ops emitted since executed() was updated
};

} // namespace kernevo::jit
