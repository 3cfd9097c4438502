// f16 and bf16, single and in pairs, as vectors of LLVM's. What a processor has no instructions for
// is left to the runtime library.
#pragma once

#include "kernevo/jit/emit/memory_writer.h"

namespace kernevo::jit {

class HalfWriter : public MemoryWriter {
protected:
  using MemoryWriter::MemoryWriter;

  // Arithmetic on halves, or a conversion between them and f32, that is written here.
  bool writes_half(const ptx::Instruction& at) const;
  void emit_half(const ptx::Instruction& at);
  Value* compare_halves(const ptx::Instruction& at, Value* a, Value* b);

private:
  Value* half_arithmetic(const ptx::Instruction& at, const Operands& operands);
  Value* half_conversion(const ptx::Instruction& at, const Operands& operands);

  // On the 16 bits of halves.
  llvm::Constant* bits(const Value* like, std::uint64_t value);
  Value* is_nan_half(Value* x, ptx::Type format);
  Value* flush_half(Value* x, ptx::Type format);
  Value* extremum_half(const ptx::Instruction& at, Value* a, Value* b, ptx::Type format);
  Value* finish_half(const ptx::Instruction& at, Value* x, ptx::Type format);

  // Between halves and floats.
  Value* widen(Value* x, ptx::Type format);
  Value* narrow(Value* x, ptx::Type format);
  Value* fma_to_odd(const Operands& x);
  // Calls make with `size` elements of each operand after the other, and joins what it makes.
  template <class Make> Value* in_pieces(const Operands& operands, unsigned size, Make&& make);
};

} // namespace kernevo::jit
