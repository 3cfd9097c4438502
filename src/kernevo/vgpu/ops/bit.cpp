// Logic, shifts and bit fields.
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/bits.h"

#include <array>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;
namespace sem = semantics;

// Predicates are lane masks: one operation serves all lanes.
template <auto Function> void predicate_binary(const Op& op, Warp& warp, LaneMask active) {
  write_predicate(warp, op.d, Function(warp.predicate(op.a), warp.predicate(op.b)), active);
}
void predicate_not(const Op& op, Warp& warp, LaneMask active) {
  write_predicate(warp, op.d, ~warp.predicate(op.a), active);
}

Result<void> lower_logic(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Opcode opcode = instruction.opcode;
  Handler handler = nullptr;
  if (type == Type::pred)
    handler = opcode == Opcode::and_  ? predicate_binary<&sem::bit_and<LaneMask>>
              : opcode == Opcode::or_ ? predicate_binary<&sem::bit_or<LaneMask>>
                                      : predicate_binary<&sem::bit_xor<LaneMask>>;
  else
    handler = with_bits(ptx::bits_of(type), [&](auto tag) -> Handler {
      using T = typename decltype(tag)::Type;
      return opcode == Opcode::and_  ? lanes_of<&sem::bit_and<T>>()
             : opcode == Opcode::or_ ? lanes_of<&sem::bit_or<T>>()
                                     : lanes_of<&sem::bit_xor<T>>();
    });
  return emit_binary(lowering, instruction, handler, type, type, type);
}

Result<void> lower_not(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Handler handler =
      type == Type::pred ? predicate_not : with_bits(ptx::bits_of(type), [&](auto tag) -> Handler {
        using T = typename decltype(tag)::Type;
        return instruction.opcode == Opcode::not_ ? lanes_of<&sem::bit_not<T>>()
                                                  : lanes_of<&sem::logical_not<T>>();
      });
  return emit_unary(lowering, instruction, handler, type, type);
}

Result<void> lower_shift(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Handler handler =
      instruction.opcode == Opcode::shl
          ? with_bits(
                ptx::bits_of(type),
                [](auto tag) { return lanes_of<&sem::shift_left<typename decltype(tag)::Type>>(); })
          : with_integer(type, [](auto tag) {
              return lanes_of<&sem::shift_right<typename decltype(tag)::Type>>();
            });
  return emit_binary(lowering, instruction, handler, type, type, Type::u32);
}

Result<void> lower_funnel_shift(Lowering& lowering, const Instruction& instruction) {
  const Handler handler = with_flag(instruction.has(Mod::l), [&](auto left) {
    return with_flag(instruction.has(Mod::wrap), [&](auto wrap) -> Handler {
      return lanes_of<&sem::funnel_shift<decltype(left)::value, decltype(wrap)::value>>();
    });
  });
  return emit_ternary(lowering, instruction, handler, Type::b32, Type::b32, Type::b32, Type::u32);
}

struct Lop3Predicate : Detail {
  std::uint32_t result = kNone; // p of d|p
  std::uint32_t other = kNone;  // q
  Mod combine = Mod::or_;
};

void lop3_handler(const Op& op, Warp& warp, LaneMask active) {
  auto* d = warp.lanes<std::uint32_t>(op.d);
  const auto* a = warp.lanes<std::uint32_t>(op.a);
  const auto* b = warp.lanes<std::uint32_t>(op.b);
  const auto* c = warp.lanes<std::uint32_t>(op.c);
  const auto lut = static_cast<std::uint32_t>(op.immediate);
  if (active == kAllLanes) {
    KERNEVO_INDEPENDENT_LANES
    for (int lane = 0; lane < kWarpSize; ++lane)
      d[lane] = sem::lop3(a[lane], b[lane], c[lane], lut);
  } else {
    for_each_lane(active, [&](int lane) { d[lane] = sem::lop3(a[lane], b[lane], c[lane], lut); });
  }
}

void lop3_predicate_handler(const Op& op, Warp& warp, LaneMask active) {
  const auto& detail = static_cast<const Lop3Predicate&>(*op.detail);
  lop3_handler(op, warp, active);
  const auto* d = warp.lanes<std::uint32_t>(op.d);
  const LaneMask nonzero = mask_where([&](int lane) { return d[lane] != 0; });
  const LaneMask other = warp.predicate(detail.other);
  write_predicate(warp, detail.result,
                  detail.combine == Mod::and_ ? nonzero & other : nonzero | other, active);
}

Result<void> lower_lop3(Lowering& lowering, const Instruction& instruction) {
  KERNEVO_CHECK(need_operands(lowering, instruction, 5));
  const auto& operands = instruction.operands;
  KERNEVO_TRY(a, lowering.source(instruction, operands[1], Type::b32));
  KERNEVO_TRY(b, lowering.source(instruction, operands[2], Type::b32));
  KERNEVO_TRY(c, lowering.source(instruction, operands[3], Type::b32));
  const bool pair = operands[0].kind == Operand::Kind::pair;
  KERNEVO_TRY(d, lowering.destination(instruction, pair ? operands[0].elements[0] : operands[0],
                                      Type::b32));
  const Detail* kept = nullptr;
  if (pair) {
    KERNEVO_CHECK(need_operands(lowering, instruction, 6));
    auto detail = std::make_unique<Lop3Predicate>();
    KERNEVO_TRY(other, lowering.source(instruction, operands[5], Type::pred));
    KERNEVO_TRY(result, lowering.destination(instruction, operands[0].elements[1], Type::pred));
    detail->other = other;
    detail->result = result;
    detail->combine = instruction.has(Mod::and_) ? Mod::and_ : Mod::or_;
    kept = lowering.keep(std::move(detail));
  }
  Op& op = lowering.emit(pair ? lop3_predicate_handler : lop3_handler);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c;
  op.immediate = static_cast<std::int64_t>(operands[4].bits & 0xFFU);
  op.detail = kept;
  return {};
}

Result<void> lower_prmt(Lowering& lowering, const Instruction& instruction) {
  constexpr std::array<std::pair<Mod, Handler>, 6> modes = {{
      {Mod::f4e, lanes_of<&sem::prmt_mode<sem::PrmtMode::f4e>>()},
      {Mod::b4e, lanes_of<&sem::prmt_mode<sem::PrmtMode::b4e>>()},
      {Mod::rc8, lanes_of<&sem::prmt_mode<sem::PrmtMode::rc8>>()},
      {Mod::ecl, lanes_of<&sem::prmt_mode<sem::PrmtMode::ecl>>()},
      {Mod::ecr, lanes_of<&sem::prmt_mode<sem::PrmtMode::ecr>>()},
      {Mod::rc16, lanes_of<&sem::prmt_mode<sem::PrmtMode::rc16>>()},
  }};
  Handler handler = lanes_of<&sem::prmt>();
  for (const auto& [modifier, special] : modes)
    if (instruction.has(modifier))
      handler = special;
  return emit_ternary(lowering, instruction, handler, Type::b32, Type::b32, Type::b32, Type::b32);
}

Result<void> lower_bfe(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Handler handler = with_integer(
      type, [](auto tag) { return lanes_of<&sem::extract_field<typename decltype(tag)::Type>>(); });
  return emit_ternary(lowering, instruction, handler, type, type, Type::u32, Type::u32);
}

// Four sources: the length's slot stands in `immediate`.
template <class T> void bfi_handler(const Op& op, Warp& warp, LaneMask active) {
  T* d = warp.lanes<T>(op.d);
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  const auto* position = warp.lanes<std::uint32_t>(op.c);
  const auto* length = warp.lanes<std::uint32_t>(static_cast<std::uint32_t>(op.immediate));
  for_each_lane(active, [&](int lane) {
    d[lane] = sem::insert_field<T>(a[lane], b[lane], position[lane], length[lane]);
  });
}

Result<void> lower_bfi(Lowering& lowering, const Instruction& instruction) {
  KERNEVO_CHECK(need_operands(lowering, instruction, 5));
  const Type type = instruction.type();
  KERNEVO_TRY(length, lowering.source(instruction, instruction.operands[4], Type::u32));
  const Handler handler =
      ptx::bits_of(type) == 64 ? bfi_handler<std::uint64_t> : bfi_handler<std::uint32_t>;
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], type));
  KERNEVO_TRY(b, lowering.source(instruction, instruction.operands[2], type));
  KERNEVO_TRY(position, lowering.source(instruction, instruction.operands[3], Type::u32));
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], type));
  Op& op = lowering.emit(handler);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = position;
  op.immediate = length;
  return {};
}

Result<void> lower_bfind(Lowering& lowering, const Instruction& instruction) {
  const Handler handler = with_integer(instruction.type(), [&](auto tag) -> Handler {
    using T = typename decltype(tag)::Type;
    return instruction.has(Mod::shiftamt) ? lanes_of<&sem::find_leading_bit<T, true>>()
                                          : lanes_of<&sem::find_leading_bit<T, false>>();
  });
  return emit_unary(lowering, instruction, handler, Type::u32, instruction.type());
}

Result<void> lower_bmsk(Lowering& lowering, const Instruction& instruction) {
  const Handler handler = instruction.has(Mod::clamp) ? lanes_of<&sem::bit_mask<true>>()
                                                      : lanes_of<&sem::bit_mask<false>>();
  return emit_binary(lowering, instruction, handler, Type::b32, Type::u32, Type::u32);
}

Result<void> lower_szext(Lowering& lowering, const Instruction& instruction) {
  const Handler handler =
      with_flag(ptx::is_signed(instruction.type()), [&](auto is_signed) -> Handler {
        constexpr bool signed_form = decltype(is_signed)::value;
        return instruction.has(Mod::clamp) ? lanes_of<&sem::extend<signed_form, true>>()
                                           : lanes_of<&sem::extend<signed_form, false>>();
      });
  return emit_binary(lowering, instruction, handler, Type::b32, Type::b32, Type::u32);
}

Result<void> lower_count(Lowering& lowering, const Instruction& instruction) {
  const bool wide = ptx::bits_of(instruction.type()) == 64;
  Handler handler = nullptr;
  if (instruction.opcode == Opcode::popc)
    handler = wide ? lanes_of<&sem::count_ones<std::uint64_t>>()
                   : lanes_of<&sem::count_ones<std::uint32_t>>();
  else
    handler = wide ? lanes_of<&sem::count_leading_zeros<std::uint64_t>>()
                   : lanes_of<&sem::count_leading_zeros<std::uint32_t>>();
  return emit_unary(lowering, instruction, handler, Type::u32, instruction.type());
}

Result<void> lower_brev(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Handler handler = ptx::bits_of(type) == 64 ? lanes_of<&sem::reverse<std::uint64_t>>()
                                                   : lanes_of<&sem::reverse<std::uint32_t>>();
  return emit_unary(lowering, instruction, handler, type, type);
}

Result<void> lower_fns(Lowering& lowering, const Instruction& instruction) {
  return emit_ternary(lowering, instruction, lanes_of<&sem::find_nth_set>(), Type::b32, Type::b32,
                      Type::b32, Type::s32);
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::and_, lower_logic},  FamilyEntry{Opcode::or_, lower_logic},
    FamilyEntry{Opcode::xor_, lower_logic},  FamilyEntry{Opcode::not_, lower_not},
    FamilyEntry{Opcode::cnot, lower_not},    FamilyEntry{Opcode::shl, lower_shift},
    FamilyEntry{Opcode::shr, lower_shift},   FamilyEntry{Opcode::shf, lower_funnel_shift},
    FamilyEntry{Opcode::lop3, lower_lop3},   FamilyEntry{Opcode::prmt, lower_prmt},
    FamilyEntry{Opcode::bfe, lower_bfe},     FamilyEntry{Opcode::bfi, lower_bfi},
    FamilyEntry{Opcode::bfind, lower_bfind}, FamilyEntry{Opcode::bmsk, lower_bmsk},
    FamilyEntry{Opcode::szext, lower_szext}, FamilyEntry{Opcode::popc, lower_count},
    FamilyEntry{Opcode::clz, lower_count},   FamilyEntry{Opcode::brev, lower_brev},
    FamilyEntry{Opcode::fns, lower_fns},
};

} // namespace

std::span<const FamilyEntry> bit_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
