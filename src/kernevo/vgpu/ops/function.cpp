// rcp sqrt rsqrt ex2 lg2 sin cos tanh copysign.
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/approx.h"
#include "kernevo/vgpu/semantics/integer.h"

#include <array>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;
namespace sem = semantics;

template <bool Ftz> Handler approximate_f32(Opcode opcode) {
  switch (opcode) {
  case Opcode::rcp: return lanes_of<&sem::rcp_approx<Ftz>>();
  case Opcode::sqrt_: return lanes_of<&sem::sqrt_approx<Ftz>>();
  case Opcode::rsqrt: return lanes_of<&sem::rsqrt_approx<Ftz>>();
  case Opcode::ex2: return lanes_of<&sem::ex2_approx<Ftz>>();
  case Opcode::lg2: return lanes_of<&sem::lg2_approx<Ftz>>();
  case Opcode::sin_: return lanes_of<&sem::sin_approx<Ftz>>();
  case Opcode::cos_: return lanes_of<&sem::cos_approx<Ftz>>();
  case Opcode::tanh_: return lanes_of<&sem::tanh_approx>();
  default: return nullptr;
  }
}

Handler rounded_f32(const Instruction& instruction) {
  return with_flag(instruction.has(Mod::ftz), [&](auto ftz) {
    return with_rounding_mode(rounding_of(instruction), [&](auto mode) -> Handler {
      constexpr bool flushes = decltype(ftz)::value;
      constexpr sem::Rounding rounding = decltype(mode)::value;
      if (instruction.opcode == Opcode::rcp)
        return lanes_of<&sem::rcp_f32<rounding, flushes>>();
      if (instruction.opcode == Opcode::sqrt_)
        return lanes_of<&sem::sqrt_f32<rounding, flushes>>();
      return nullptr;
    });
  });
}

Handler f64_form(const Instruction& instruction) {
  if (instruction.has(Mod::approx)) {
    if (instruction.opcode == Opcode::rcp)
      return lanes_of<&sem::rcp_approx_f64>();
    if (instruction.opcode == Opcode::rsqrt)
      return instruction.has(Mod::ftz) ? lanes_of<&sem::rsqrt_approx_ftz_f64>()
                                       : lanes_of<&sem::rsqrt_approx_f64>();
    return nullptr;
  }
  return with_rounding_mode(rounding_of(instruction), [&](auto mode) -> Handler {
    constexpr sem::Rounding rounding = decltype(mode)::value;
    if (instruction.opcode == Opcode::rcp)
      return lanes_of<&sem::rcp_f64<rounding>>();
    if (instruction.opcode == Opcode::sqrt_)
      return lanes_of<&sem::sqrt_f64<rounding>>();
    return nullptr;
  });
}

template <class Format, bool Pair, bool Ftz> Handler half_form(Opcode opcode) {
  if (opcode == Opcode::ex2) {
    if constexpr (Pair)
      return lanes_of<&sem::halves_unary<&sem::ex2_half<Format, Ftz>>>();
    else
      return lanes_of<&sem::ex2_half<Format, Ftz>>();
  }
  if (opcode == Opcode::tanh_) {
    if constexpr (Pair)
      return lanes_of<&sem::halves_unary<&sem::tanh_half<Format>>>();
    else
      return lanes_of<&sem::tanh_half<Format>>();
  }
  return nullptr;
}

Handler handler_of(const Instruction& instruction) {
  switch (instruction.type()) {
  case Type::f32:
    if (!instruction.has(Mod::approx))
      return rounded_f32(instruction);
    return instruction.has(Mod::ftz) ? approximate_f32<true>(instruction.opcode)
                                     : approximate_f32<false>(instruction.opcode);
  case Type::f64: return f64_form(instruction);
  case Type::f16: return half_form<sem::Half, false, false>(instruction.opcode);
  case Type::f16x2: return half_form<sem::Half, true, false>(instruction.opcode);
  case Type::bf16: return half_form<sem::Bfloat, false, true>(instruction.opcode);
  case Type::bf16x2: return half_form<sem::Bfloat, true, true>(instruction.opcode);
  default: return nullptr;
  }
}

Result<void> lower_function(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  return emit_unary(lowering, instruction, handler_of(instruction), type, type);
}

Result<void> lower_copysign(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Handler handler = type == Type::f64 ? lanes_of<&sem::copysign_float<double>>()
                                            : lanes_of<&sem::copysign_float<float>>();
  return emit_binary(lowering, instruction, handler, type, type, type);
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::rcp, lower_function},      FamilyEntry{Opcode::sqrt_, lower_function},
    FamilyEntry{Opcode::rsqrt, lower_function},    FamilyEntry{Opcode::ex2, lower_function},
    FamilyEntry{Opcode::lg2, lower_function},      FamilyEntry{Opcode::sin_, lower_function},
    FamilyEntry{Opcode::cos_, lower_function},     FamilyEntry{Opcode::tanh_, lower_function},
    FamilyEntry{Opcode::copysign, lower_copysign},
};

} // namespace

std::span<const FamilyEntry> function_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
