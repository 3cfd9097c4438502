// f32 and f64 arithmetic: every modifier becomes a template argument of the scalar function.
#include "kernevo/vgpu/ops/arithmetic.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/approx.h"
#include "kernevo/vgpu/semantics/float.h"

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;
using semantics::Rounding;
namespace sem = semantics;

template <Rounding Mode, bool Ftz, bool Sat> Handler f32_form(Opcode opcode) {
  switch (opcode) {
  case Opcode::add: return lanes_of<&sem::add_f32<Mode, Ftz, Sat>>();
  case Opcode::sub: return lanes_of<&sem::sub_f32<Mode, Ftz, Sat>>();
  case Opcode::mul: return lanes_of<&sem::mul_f32<Mode, Ftz, Sat>>();
  case Opcode::mad:
  case Opcode::fma_: return lanes_of<&sem::fma_f32<Mode, Ftz, Sat>>();
  default: return nullptr;
  }
}

template <Rounding Mode, bool Ftz> Handler f32x2_form(Opcode opcode) {
  switch (opcode) {
  case Opcode::add: return lanes_of<&sem::f32x2_binary<&sem::add_f32<Mode, Ftz, false>>>();
  case Opcode::sub: return lanes_of<&sem::f32x2_binary<&sem::sub_f32<Mode, Ftz, false>>>();
  case Opcode::mul: return lanes_of<&sem::f32x2_binary<&sem::mul_f32<Mode, Ftz, false>>>();
  case Opcode::fma_: return lanes_of<&sem::f32x2_ternary<&sem::fma_f32<Mode, Ftz, false>>>();
  default: return nullptr;
  }
}

template <Rounding Mode> Handler f64_form(Opcode opcode) {
  switch (opcode) {
  case Opcode::add: return lanes_of<&sem::add_f64<Mode>>();
  case Opcode::sub: return lanes_of<&sem::sub_f64<Mode>>();
  case Opcode::mul: return lanes_of<&sem::mul_f64<Mode>>();
  case Opcode::mad:
  case Opcode::fma_: return lanes_of<&sem::fma_f64<Mode>>();
  case Opcode::div_: return lanes_of<&sem::div_f64<Mode>>();
  default: return nullptr;
  }
}

Handler f32_division(const Instruction& instruction) {
  return with_flag(instruction.has(Mod::ftz), [&](auto ftz) -> Handler {
    constexpr bool flushes = decltype(ftz)::value;
    if (instruction.has(Mod::approx))
      return lanes_of<&sem::div_approx<flushes>>();
    if (instruction.has(Mod::full))
      return lanes_of<&sem::div_full<flushes>>();
    return with_rounding_mode(rounding_of(instruction), [](auto mode) -> Handler {
      return lanes_of<&sem::div_f32<decltype(mode)::value, flushes>>();
    });
  });
}

} // namespace

Handler f32_arithmetic(const Instruction& instruction) {
  const bool pair = instruction.type() == Type::f32x2;
  if (instruction.opcode == Opcode::div_)
    return pair ? nullptr : f32_division(instruction);
  return with_flag(instruction.has(Mod::ftz), [&](auto ftz) -> Handler {
    constexpr bool flushes = decltype(ftz)::value;
    if (instruction.opcode == Opcode::abs_)
      return pair ? nullptr : lanes_of<&sem::absolute_float<float, flushes>>();
    if (instruction.opcode == Opcode::neg)
      return pair ? nullptr : lanes_of<&sem::negate_float<float, flushes>>();
    return with_rounding_mode(rounding_of(instruction), [&](auto mode) -> Handler {
      constexpr Rounding rounding = decltype(mode)::value;
      if (pair)
        return f32x2_form<rounding, flushes>(instruction.opcode);
      return instruction.has(Mod::sat) ? f32_form<rounding, flushes, true>(instruction.opcode)
                                       : f32_form<rounding, flushes, false>(instruction.opcode);
    });
  });
}

Handler f64_arithmetic(const Instruction& instruction) {
  if (instruction.opcode == Opcode::abs_)
    return lanes_of<&sem::absolute_float<double, false>>();
  if (instruction.opcode == Opcode::neg)
    return lanes_of<&sem::negate_float<double, false>>();
  return with_rounding_mode(rounding_of(instruction), [&](auto mode) -> Handler {
    return f64_form<decltype(mode)::value>(instruction.opcode);
  });
}

} // namespace kernevo::vgpu::ops
