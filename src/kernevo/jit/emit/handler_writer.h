// Instructions left to the interpreter's handlers, and those that exchange values between lanes.
#pragma once

#include "kernevo/jit/emit/control_writer.h"

#include <vector>

namespace kernevo::jit {

class HandlerWriter : public ControlWriter {
protected:
  using ControlWriter::ControlWriter;

  void emit_handler(std::uint32_t instruction);
  void call_handlers(std::uint32_t instruction);
  void emit_exchange(const ptx::Instruction& at, std::uint32_t instruction);

  // Whether it must be asked, after the handlers of an instruction, if one raised a fault.
  virtual bool may_fault(std::uint32_t /*instruction*/) const { return true; }
  // What is emitted runs whenever the segment does, or only sometimes.
  virtual void set_certain(bool /*certain*/) {}
  // shfl is written here; else it is the handler's.
  virtual bool shuffles_here() const { return true; }
  virtual void shuffle_lanes(const ptx::Instruction& at, ptx::RegisterId result,
                             const std::vector<int>& pick) = 0;

private:
  void emit_shuffle(const ptx::Instruction& at);
  llvm::BasicBlock* fault_block();

  llvm::BasicBlock* fault_ = nullptr;
};

} // namespace kernevo::jit
