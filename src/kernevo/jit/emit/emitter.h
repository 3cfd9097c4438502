// Writes a planned function, instruction by instruction. Two kinds of code are made: thorough code
// for LLVM to improve, and light code that is made quickly.
#pragma once

#include "kernevo/jit/emit/arithmetic_writer.h"

#include <memory>

namespace kernevo::jit {

class Emitter : public ArithmeticWriter {
public:
  using ArithmeticWriter::ArithmeticWriter;
  std::unique_ptr<llvm::Module> run();

protected:
  // Once the context is loaded, before the first instruction.
  virtual void prepare() = 0;
  // A new block where the flow does not want one.
  virtual bool starts_segment(std::uint32_t /*instruction*/) const { return false; }
  virtual void emit_inlined(const ptx::Instruction& at, std::uint32_t instruction);
  // The instruction has been written, its count has not.
  virtual void note_result(std::uint32_t /*instruction*/) {}
  // Where the interpreter comes in before the instruction.
  virtual llvm::BasicBlock* entry_block(std::uint32_t instruction) = 0;
  virtual void emit_exit(std::uint32_t number) = 0;

private:
  void emit_instruction(std::uint32_t instruction);
  void emit_entries();
};

} // namespace kernevo::jit
