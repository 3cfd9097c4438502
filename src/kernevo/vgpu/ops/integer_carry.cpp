// Extended-precision arithmetic: instructions that read or write the carry flag of each lane.
#include "kernevo/vgpu/ops/arithmetic.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/integer.h"

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

enum class CarryForm : std::uint8_t { add, sub, mad_lo, mad_hi };

template <class T> struct WithCarry {
  T value;
  bool carry;
};

template <class T> WithCarry<T> add_with_carry(T a, T b, bool carry) {
  const auto sum = static_cast<T>(a + b);
  const auto total = static_cast<T>(sum + static_cast<T>(carry));
  return {total, sum < a || total < sum};
}
// The hardware adds the complement, so its flag after a subtraction means "no borrow"; that shows
// when an addition reads what a subtraction wrote.
template <class T> WithCarry<T> sub_with_carry(T a, T b, bool carry) {
  return add_with_carry(a, static_cast<T>(~b), carry);
}

// T carries the signedness of the product; sums are unsigned.
template <class T, CarryForm Form, bool In, bool Out>
void carry_handler(const Op& op, Warp& warp, LaneMask active) {
  using U = std::make_unsigned_t<T>;
  LaneMask& flags = warp.predicate(static_cast<std::uint32_t>(op.immediate));
  for_each_lane(active, [&](int lane) {
    const T a = warp.lanes<T>(op.a)[lane];
    const T b = warp.lanes<T>(op.b)[lane];
    const bool before = In ? (flags >> lane & 1U) != 0 : Form == CarryForm::sub;
    WithCarry<U> result{};
    if constexpr (Form == CarryForm::add)
      result = add_with_carry(static_cast<U>(a), static_cast<U>(b), before);
    else if constexpr (Form == CarryForm::sub)
      result = sub_with_carry(static_cast<U>(a), static_cast<U>(b), before);
    else
      result = add_with_carry(static_cast<U>(Form == CarryForm::mad_lo ? semantics::mul_lo(a, b)
                                                                       : semantics::mul_hi(a, b)),
                              warp.lanes<U>(op.c)[lane], before);
    warp.lanes<U>(op.d)[lane] = result.value;
    if constexpr (Out)
      flags = (flags & ~(1U << lane)) | static_cast<LaneMask>(result.carry) << lane;
  });
}

template <class T, bool In, bool Out> Handler carry_form(CarryForm form) {
  switch (form) {
  case CarryForm::add: return carry_handler<T, CarryForm::add, In, Out>;
  case CarryForm::sub: return carry_handler<T, CarryForm::sub, In, Out>;
  case CarryForm::mad_lo: return carry_handler<T, CarryForm::mad_lo, In, Out>;
  case CarryForm::mad_hi: return carry_handler<T, CarryForm::mad_hi, In, Out>;
  }
  return nullptr;
}

} // namespace

Result<void> lower_carry(Lowering& lowering, const Instruction& instruction) {
  const Opcode opcode = instruction.opcode;
  const bool in = opcode == Opcode::addc || opcode == Opcode::subc || opcode == Opcode::madc;
  const bool multiplies = opcode == Opcode::mad || opcode == Opcode::madc;
  const CarryForm form = multiplies
                             ? (instruction.has(Mod::hi) ? CarryForm::mad_hi : CarryForm::mad_lo)
                         : opcode == Opcode::sub || opcode == Opcode::subc ? CarryForm::sub
                                                                           : CarryForm::add;
  const Type type = instruction.type();
  if (ptx::bits_of(type) < 32 || ptx::is_float(type))
    return unknown_form(lowering, instruction);
  const Handler handler = with_integer(type, [&](auto tag) -> Handler {
    using T = typename decltype(tag)::Type;
    if (!in)
      return carry_form<T, false, true>(form);
    return instruction.has(Mod::cc) ? carry_form<T, true, true>(form)
                                    : carry_form<T, true, false>(form);
  });
  if (handler == nullptr)
    return unknown_form(lowering, instruction);
  KERNEVO_CHECK(need_operands(lowering, instruction, multiplies ? 4 : 3));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], type));
  KERNEVO_TRY(b, lowering.source(instruction, instruction.operands[2], type));
  std::uint32_t c = kNone;
  if (multiplies) {
    KERNEVO_TRY(addend, lowering.source(instruction, instruction.operands[3], type));
    c = addend;
  }
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], type));
  const std::uint32_t flags = lowering.carry_flags();
  Op& op = lowering.emit(handler);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c;
  op.immediate = flags;
  return {};
}

} // namespace kernevo::vgpu::ops
