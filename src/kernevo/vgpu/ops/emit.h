// What the lowering of most families shares: operands to offsets, run-time settings to templates.
#pragma once

#include "kernevo/vgpu/program/lowering.h"
#include "kernevo/vgpu/semantics/rounding.h"

#include <optional>
#include <type_traits>

namespace kernevo::vgpu::ops {

// Fails unless the instruction has at least this many operands.
Result<void> need_operands(Lowering& lowering, const ptx::Instruction& instruction,
                           std::size_t count);

// d = f(a), f(a, b), f(a, b, c): emits the handler with the operands in order. A null handler means
// that no form of the instruction fits and becomes an error.
Result<void> emit_unary(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                        ptx::Type d, ptx::Type a);
Result<void> emit_binary(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                         ptx::Type d, ptx::Type a, ptx::Type b);
Result<void> emit_ternary(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                          ptx::Type d, ptx::Type a, ptx::Type b, ptx::Type c);

// "this form is not known" for the instruction.
tl::unexpected<Error> unknown_form(Lowering& lowering, const ptx::Instruction& instruction);

// The rounding modifier (.rn when there is none).
semantics::Rounding rounding_of(const ptx::Instruction& instruction);

// Calls f with the value as a type: std::true_type / std::false_type, or an integral_constant.
template <class F> auto with_flag(bool flag, F&& f) {
  return flag ? f(std::true_type{}) : f(std::false_type{});
}
template <semantics::Rounding Mode>
using RoundingConstant = std::integral_constant<semantics::Rounding, Mode>;
template <class F> auto with_rounding_mode(semantics::Rounding mode, F&& f) {
  using semantics::Rounding;
  switch (mode) {
  case Rounding::rz: return f(RoundingConstant<Rounding::rz>{});
  case Rounding::rm: return f(RoundingConstant<Rounding::rm>{});
  case Rounding::rp: return f(RoundingConstant<Rounding::rp>{});
  default: return f(RoundingConstant<Rounding::rn>{});
  }
}

// Calls f with the C++ type of an integer type of 16, 32 or 64 bits; a null handler otherwise.
template <class T> struct TypeTag {
  using Type = T;
};
template <class F> Handler with_integer(ptx::Type type, F&& f) {
  switch (type) {
  case ptx::Type::s16: return f(TypeTag<std::int16_t>{});
  case ptx::Type::u16:
  case ptx::Type::b16: return f(TypeTag<std::uint16_t>{});
  case ptx::Type::s32: return f(TypeTag<std::int32_t>{});
  case ptx::Type::u32:
  case ptx::Type::b32: return f(TypeTag<std::uint32_t>{});
  case ptx::Type::s64: return f(TypeTag<std::int64_t>{});
  case ptx::Type::u64:
  case ptx::Type::b64: return f(TypeTag<std::uint64_t>{});
  default: return nullptr;
  }
}
// The same for bit operations, where signs do not matter.
template <class F> Handler with_bits(int bits, F&& f) {
  switch (bits) {
  case 8: return f(TypeTag<std::uint8_t>{});
  case 16: return f(TypeTag<std::uint16_t>{});
  case 32: return f(TypeTag<std::uint32_t>{});
  case 64: return f(TypeTag<std::uint64_t>{});
  default: return nullptr;
  }
}

} // namespace kernevo::vgpu::ops
