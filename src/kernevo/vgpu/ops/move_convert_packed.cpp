// cvt into and out of pairs of small floats, and to tf32.
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/ops/move.h"
#include "kernevo/vgpu/semantics/convert.h"

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Type;
namespace sem = semantics;

template <class Format> Handler pair_of_halves(const Instruction& instruction) {
  const bool truncate = instruction.has(Mod::rz);
  return with_flag(instruction.has(Mod::relu), [&](auto relu) {
    return with_flag(instruction.has(Mod::satfinite), [&](auto finite) -> Handler {
      constexpr bool with_relu = decltype(relu)::value;
      constexpr bool finite_only = decltype(finite)::value;
      using sem::NarrowMode;
      using sem::Rounding;
      return truncate
                 ? lanes_of<
                       &sem::pack_f32<Format, NarrowMode{Rounding::rz, with_relu, finite_only}>>()
                 : lanes_of<
                       &sem::pack_f32<Format, NarrowMode{Rounding::rn, with_relu, finite_only}>>();
    });
  });
}

Handler to_tf32(const Instruction& instruction) {
  return with_flag(instruction.has(Mod::relu), [&](auto relu) {
    return with_flag(instruction.has(Mod::satfinite), [&](auto finite) -> Handler {
      constexpr bool with_relu = decltype(relu)::value;
      constexpr bool finite_only = decltype(finite)::value;
      using sem::Tf32Rounding;
      if (instruction.has(Mod::rna))
        return lanes_of<&sem::to_tf32<Tf32Rounding::rna, with_relu, finite_only>>();
      return instruction.has(Mod::rz)
                 ? lanes_of<&sem::to_tf32<Tf32Rounding::rz, with_relu, finite_only>>()
                 : lanes_of<&sem::to_tf32<Tf32Rounding::rn, with_relu, finite_only>>();
    });
  });
}

template <class Format8> Handler to_fp8(const Instruction& instruction, Type from) {
  return with_flag(instruction.has(Mod::relu), [&](auto relu) -> Handler {
    constexpr bool with_relu = decltype(relu)::value;
    if (from == Type::f32)
      return lanes_of<&sem::pack_f32_to_fp8<Format8, with_relu>>();
    if (from == Type::f16x2)
      return lanes_of<&sem::halves_to_fp8<Format8, sem::Half, with_relu>>();
    return nullptr;
  });
}

template <class Format8> Handler from_fp8(const Instruction& instruction) {
  return instruction.has(Mod::relu) ? lanes_of<&sem::fp8_to_halves<Format8, sem::Half, true>>()
                                    : lanes_of<&sem::fp8_to_halves<Format8, sem::Half, false>>();
}

Handler to_scale(const Instruction& instruction, Type from) {
  const bool up = instruction.has(Mod::rp);
  if (from == Type::f32)
    return up ? lanes_of<&sem::pack_f32_to_ue8m0<sem::Rounding::rp>>()
              : lanes_of<&sem::pack_f32_to_ue8m0<sem::Rounding::rz>>();
  if (from == Type::bf16x2)
    return up ? lanes_of<&sem::bfloats_to_ue8m0<sem::Rounding::rp>>()
              : lanes_of<&sem::bfloats_to_ue8m0<sem::Rounding::rz>>();
  return nullptr;
}

} // namespace

Handler packed_conversion(const Instruction& instruction, Type to, Type from) {
  const bool two_sources = instruction.operands.size() > 2;
  if (two_sources != (from == Type::f32 && to != Type::tf32))
    return nullptr;
  switch (to) {
  case Type::f16x2:
    return from == Type::f32      ? pair_of_halves<sem::Half>(instruction)
           : from == Type::e4m3x2 ? from_fp8<sem::E4m3>(instruction)
           : from == Type::e5m2x2 ? from_fp8<sem::E5m2>(instruction)
                                  : nullptr;
  case Type::bf16x2:
    return from == Type::f32       ? pair_of_halves<sem::Bfloat>(instruction)
           : from == Type::ue8m0x2 ? lanes_of<&sem::ue8m0_to_bfloats>()
                                   : nullptr;
  case Type::tf32: return from == Type::f32 ? to_tf32(instruction) : nullptr;
  case Type::e4m3x2: return to_fp8<sem::E4m3>(instruction, from);
  case Type::e5m2x2: return to_fp8<sem::E5m2>(instruction, from);
  case Type::ue8m0x2: return to_scale(instruction, from);
  default: return nullptr;
  }
}

} // namespace kernevo::vgpu::ops
