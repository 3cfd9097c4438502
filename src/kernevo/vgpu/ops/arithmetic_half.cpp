// f16 and bf16 arithmetic, single and in pairs, and min/max of every floating format.
#include "kernevo/vgpu/ops/arithmetic.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/half.h"
#include "kernevo/vgpu/semantics/integer.h"

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;
namespace sem = semantics;

template <bool Pair, auto Function> constexpr Handler unary_half() {
  if constexpr (Pair)
    return lanes_of<&sem::halves_unary<Function>>();
  else
    return lanes_of<Function>();
}
template <bool Pair, auto Function> constexpr Handler binary_half() {
  if constexpr (Pair)
    return lanes_of<&sem::halves_binary<Function>>();
  else
    return lanes_of<Function>();
}
template <bool Pair, auto Function> constexpr Handler ternary_half() {
  if constexpr (Pair)
    return lanes_of<&sem::halves_ternary<Function>>();
  else
    return lanes_of<Function>();
}

template <class Format, bool Pair, sem::HalfMode Mode> Handler half_form(Opcode opcode) {
  switch (opcode) {
  case Opcode::add: return binary_half<Pair, &sem::add_half<Format, Mode>>();
  case Opcode::sub: return binary_half<Pair, &sem::sub_half<Format, Mode>>();
  case Opcode::mul: return binary_half<Pair, &sem::mul_half<Format, Mode>>();
  case Opcode::fma_: return ternary_half<Pair, &sem::fma_half<Format, Mode>>();
  case Opcode::abs_: return unary_half<Pair, &sem::absolute_half<Format, Mode.ftz>>();
  case Opcode::neg: return unary_half<Pair, &sem::negate_half<Format, Mode.ftz>>();
  default: return nullptr;
  }
}

template <class F> Handler with_half_format(Type type, F&& f) {
  switch (type) {
  case Type::f16: return f(TypeTag<sem::Half>{}, std::false_type{});
  case Type::f16x2: return f(TypeTag<sem::Half>{}, std::true_type{});
  case Type::bf16: return f(TypeTag<sem::Bfloat>{}, std::false_type{});
  case Type::bf16x2: return f(TypeTag<sem::Bfloat>{}, std::true_type{});
  default: return nullptr;
  }
}

template <bool Maximum, bool Ftz, bool PropagateNan, bool XorSign>
Handler extremum_form(Type type) {
  if (type == Type::f32)
    return lanes_of<&sem::extremum<float, Maximum, Ftz, PropagateNan, XorSign>>();
  if (type == Type::f64)
    return lanes_of<&sem::extremum<double, Maximum, false, PropagateNan, XorSign>>();
  return with_half_format(type, [](auto format, auto pair) -> Handler {
    using Format = typename decltype(format)::Type;
    return binary_half<decltype(pair)::value,
                       &sem::extremum_half<Format, Maximum, Ftz, PropagateNan, XorSign>>();
  });
}

} // namespace

Handler half_arithmetic(const Instruction& instruction) {
  if (instruction.has(Mod::oob) || rounding_of(instruction) != sem::Rounding::rn)
    return nullptr;
  return with_half_format(instruction.type(), [&](auto format, auto pair) -> Handler {
    using Format = typename decltype(format)::Type;
    return with_flag(instruction.has(Mod::ftz), [&](auto ftz) -> Handler {
      constexpr bool flushes = decltype(ftz)::value;
      constexpr bool packed = decltype(pair)::value;
      if (instruction.has(Mod::sat))
        return half_form<Format, packed, sem::HalfMode{flushes, true, false}>(instruction.opcode);
      if (instruction.has(Mod::relu))
        return half_form<Format, packed, sem::HalfMode{flushes, false, true}>(instruction.opcode);
      return half_form<Format, packed, sem::HalfMode{flushes, false, false}>(instruction.opcode);
    });
  });
}

Handler float_extremum(const Instruction& instruction) {
  return with_flag(instruction.opcode == Opcode::max_, [&](auto maximum) -> Handler {
    return with_flag(instruction.has(Mod::ftz), [&](auto ftz) -> Handler {
      return with_flag(instruction.has(Mod::nan), [&](auto nan) -> Handler {
        return with_flag(instruction.has(Mod::xorsign), [&](auto xor_sign) -> Handler {
          return extremum_form<decltype(maximum)::value, decltype(ftz)::value, decltype(nan)::value,
                               decltype(xor_sign)::value>(instruction.type());
        });
      });
    });
  });
}

} // namespace kernevo::vgpu::ops
