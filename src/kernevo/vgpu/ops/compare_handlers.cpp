#include "kernevo/vgpu/ops/compare.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/compare.h"

#include <optional>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Type;
using semantics::Comparison;
namespace sem = semantics;

template <auto Function> struct CompareOp;
template <class T, bool (*Function)(T, T)> struct CompareOp<Function> {
  static void run(const Op& op, Warp& warp, LaneMask active) {
    const T* a = warp.lanes<T>(op.a);
    const T* b = warp.lanes<T>(op.b);
    LaneMask truth = 0;
    for (int lane = 0; lane < kWarpSize; ++lane)
      truth |= Function(a[lane], b[lane]) ? 1U << lane : 0U;
    write_predicate(warp, op.d, truth, active);
  }
};

template <auto Function> void compare_halves(const Op& op, Warp& warp, LaneMask active) {
  const auto* a = warp.lanes<std::uint32_t>(op.a);
  const auto* b = warp.lanes<std::uint32_t>(op.b);
  LaneMask low = 0;
  LaneMask high = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    low |= static_cast<LaneMask>(
               Function(static_cast<std::uint16_t>(a[lane]), static_cast<std::uint16_t>(b[lane])))
           << lane;
    high |= static_cast<LaneMask>(Function(static_cast<std::uint16_t>(a[lane] >> 16),
                                           static_cast<std::uint16_t>(b[lane] >> 16)))
            << lane;
  }
  write_predicate(warp, op.d, low, active);
  write_predicate(warp, op.c, high, active);
}

template <Comparison C> Handler integer_comparison(Type type) {
  return with_integer(type, [](auto tag) -> Handler {
    return &CompareOp<&sem::compare<C, typename decltype(tag)::Type>>::run;
  });
}

template <Comparison C, bool Ftz> Handler float_comparison(Type type) {
  switch (type) {
  case Type::f32: return &CompareOp<&sem::compare_f32<C, Ftz>>::run;
  case Type::f64: return &CompareOp<&sem::compare<C, double>>::run;
  case Type::f16: return &CompareOp<&sem::compare_half<C, sem::Half, Ftz>>::run;
  case Type::bf16: return &CompareOp<&sem::compare_half<C, sem::Bfloat, Ftz>>::run;
  case Type::f16x2: return &compare_halves<&sem::compare_half<C, sem::Half, Ftz>>;
  case Type::bf16x2: return &compare_halves<&sem::compare_half<C, sem::Bfloat, Ftz>>;
  default: return nullptr;
  }
}

template <Comparison C> Handler for_type(Type type, bool ftz) {
  if (ptx::is_float(type))
    return ftz ? float_comparison<C, true>(type) : float_comparison<C, false>(type);
  if constexpr (C <= Comparison::ge)
    return integer_comparison<C>(type);
  return nullptr;
}

Handler for_comparison(Comparison comparison, Type type, bool ftz) {
  switch (comparison) {
  case Comparison::eq: return for_type<Comparison::eq>(type, ftz);
  case Comparison::ne: return for_type<Comparison::ne>(type, ftz);
  case Comparison::lt: return for_type<Comparison::lt>(type, ftz);
  case Comparison::le: return for_type<Comparison::le>(type, ftz);
  case Comparison::gt: return for_type<Comparison::gt>(type, ftz);
  case Comparison::ge: return for_type<Comparison::ge>(type, ftz);
  case Comparison::equ: return for_type<Comparison::equ>(type, ftz);
  case Comparison::neu: return for_type<Comparison::neu>(type, ftz);
  case Comparison::ltu: return for_type<Comparison::ltu>(type, ftz);
  case Comparison::leu: return for_type<Comparison::leu>(type, ftz);
  case Comparison::gtu: return for_type<Comparison::gtu>(type, ftz);
  case Comparison::geu: return for_type<Comparison::geu>(type, ftz);
  case Comparison::num: return for_type<Comparison::num>(type, ftz);
  case Comparison::nan: return for_type<Comparison::nan>(type, ftz);
  }
  return nullptr;
}

std::optional<Comparison> comparison_of(Mod modifier) {
  switch (modifier) {
  case Mod::eq: return Comparison::eq;
  case Mod::ne: return Comparison::ne;
  case Mod::lt:
  case Mod::lo: return Comparison::lt;
  case Mod::le:
  case Mod::ls: return Comparison::le;
  case Mod::gt:
  case Mod::hi: return Comparison::gt;
  case Mod::ge:
  case Mod::hs: return Comparison::ge;
  case Mod::equ: return Comparison::equ;
  case Mod::neu: return Comparison::neu;
  case Mod::ltu: return Comparison::ltu;
  case Mod::leu: return Comparison::leu;
  case Mod::gtu: return Comparison::gtu;
  case Mod::geu: return Comparison::geu;
  case Mod::num: return Comparison::num;
  case Mod::nan: return Comparison::nan;
  default: return std::nullopt;
  }
}

} // namespace

Handler comparison_handler(const Instruction& instruction, Type type) {
  for (const Mod modifier : instruction.modifiers)
    if (const auto comparison = comparison_of(modifier))
      return for_comparison(*comparison, type, instruction.has(Mod::ftz));
  return nullptr;
}

} // namespace kernevo::vgpu::ops
