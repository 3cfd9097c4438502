// What one lane computes for itself.
#pragma once

#include "kernevo/jit/emit/half_writer.h"
#include "kernevo/jit/lane_functions.h"

namespace kernevo::jit {

class ArithmeticWriter : public HalfWriter {
protected:
  using HalfWriter::HalfWriter;

  void emit_arithmetic(const ptx::Instruction& at, std::uint32_t instruction);
  // The call of a library's function of one lane has been written.
  virtual void finish_call(llvm::CallInst& /*call*/, const LaneFunction& /*function*/) {}

private:
  void emit_setp(const ptx::Instruction& at);
  void emit_selp(const ptx::Instruction& at);
  void emit_cvt(const ptx::Instruction& at, std::uint32_t instruction);
  void emit_mov(const ptx::Instruction& at);
  void emit_cvta(const ptx::Instruction& at);
  void emit_predicate_logic(const ptx::Instruction& at);
  void emit_lane_function(const ptx::Instruction& at, const LaneFunction& function);
  void check_widening(const ptx::Instruction& at, std::uint32_t instruction);
  Value* operand_as_declared(const ptx::Operand& operand, ptx::Type type, unsigned group,
                             unsigned index);
  Value* compare(const ptx::Instruction& at, Value* a, Value* b);
  Value* arithmetic(const ptx::Instruction& at, const Operands& operands);
  Value* extremum(bool maximum, Value* a, Value* b);
  Value* flush(Value* value);
  // prmt that picks whole bytes, known now.
  bool is_permutation(const ptx::Instruction& at) const;
  void emit_permutation(const ptx::Instruction& at);
  Value* shift(const ptx::Instruction& at, Value* a, Value* amount);
};

} // namespace kernevo::jit
