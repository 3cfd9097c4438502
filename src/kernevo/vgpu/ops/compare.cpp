// setp set selp slct testp.
#include "kernevo/vgpu/ops/compare.h"

#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/compare.h"

#include <array>
#include <cstring>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;
namespace sem = semantics;

bool is_packed(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2;
}

// d = BoolOp(a, b) and, where c is an operand, c = BoolOp(!a, b).
template <Mod Combine> void combine_handler(const Op& op, Warp& warp, LaneMask active) {
  const auto combine = [](LaneMask x, LaneMask y) {
    return Combine == Mod::and_ ? x & y : Combine == Mod::or_ ? x | y : x ^ y;
  };
  const LaneMask truth = warp.predicate(op.a);
  const LaneMask other = warp.predicate(op.b);
  write_predicate(warp, op.d, combine(truth, other), active);
  if (op.c != kNone)
    write_predicate(warp, op.c, combine(~truth, other), active);
}
void complement_handler(const Op& op, Warp& warp, LaneMask active) {
  const LaneMask truth = warp.predicate(op.a);
  write_predicate(warp, op.d, truth, active);
  write_predicate(warp, op.c, ~truth, active);
}
// d = a and, where c is an operand, c = b. In one op: the guard may be the first of them.
void halves_handler(const Op& op, Warp& warp, LaneMask active) {
  const LaneMask low = warp.predicate(op.a);
  const LaneMask high = warp.predicate(op.b);
  write_predicate(warp, op.d, low, active);
  if (op.c != kNone)
    write_predicate(warp, op.c, high, active);
}

Handler combine_of(const Instruction& instruction) {
  if (instruction.has(Mod::and_))
    return combine_handler<Mod::and_>;
  if (instruction.has(Mod::or_))
    return combine_handler<Mod::or_>;
  return instruction.has(Mod::xor_) ? combine_handler<Mod::xor_> : nullptr;
}

struct Truth {
  std::uint32_t low = kNone;
  std::uint32_t high = kNone; // packed types only
};

// Emits the comparison of operands 1 and 2 into fresh masks, or straight into `target` if given.
Result<Truth> emit_comparison(Lowering& lowering, const Instruction& instruction, Type type,
                              std::uint32_t target) {
  const Handler handler = comparison_handler(instruction, type);
  if (handler == nullptr)
    return unknown_form(lowering, instruction);
  KERNEVO_CHECK(need_operands(lowering, instruction, 3));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], type));
  KERNEVO_TRY(b, lowering.source(instruction, instruction.operands[2], type));
  Truth truth;
  truth.low = target != kNone ? target : lowering.temporary(sizeof(LaneMask));
  if (is_packed(type))
    truth.high = lowering.temporary(sizeof(LaneMask));
  Op& op = lowering.emit(handler);
  op.d = truth.low;
  op.a = a;
  op.b = b;
  op.c = truth.high;
  return truth;
}

Result<void> lower_setp(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  KERNEVO_CHECK(need_operands(lowering, instruction, 3));
  const Operand& destination = instruction.operands[0];
  const bool pair = destination.kind == Operand::Kind::pair;
  KERNEVO_TRY(first, lowering.destination(instruction, pair ? destination.elements[0] : destination,
                                          Type::pred));
  std::uint32_t second = kNone;
  if (pair) {
    KERNEVO_TRY(offset, lowering.destination(instruction, destination.elements[1], Type::pred));
    second = offset;
  }
  const Handler combine = combine_of(instruction);
  if (combine == nullptr && !pair && !is_packed(type)) {
    KERNEVO_CHECK(emit_comparison(lowering, instruction, type, first));
    return {};
  }
  std::uint32_t other = kNone;
  if (combine != nullptr) {
    KERNEVO_CHECK(need_operands(lowering, instruction, 4));
    KERNEVO_TRY(offset, lowering.source(instruction, instruction.operands[3], Type::pred));
    other = offset;
  }
  KERNEVO_TRY(truth, emit_comparison(lowering, instruction, type, kNone));
  if (!is_packed(type)) {
    Op& op = lowering.emit(combine != nullptr ? combine : complement_handler);
    op.d = first;
    op.a = truth.low;
    op.b = other;
    op.c = second;
    return {};
  }
  // Packed: p is the lower halves' result, q the upper halves'. `other` is read before it is
  // written: it may be the same register as p.
  if (combine != nullptr) {
    for (const std::uint32_t half : {truth.low, truth.high}) {
      Op& op = lowering.emit(combine);
      op.d = half;
      op.a = half;
      op.b = other;
    }
  }
  Op& op = lowering.emit(halves_handler);
  op.d = first;
  op.a = truth.low;
  op.b = truth.high;
  op.c = second;
  return {};
}

// d = mask bit ? immediate : 0; with op.b the upper half of each element has a mask of its own.
template <class T> void expand_handler(const Op& op, Warp& warp, LaneMask active) {
  T* d = warp.lanes<T>(op.d);
  const auto value = static_cast<T>(op.immediate);
  const LaneMask low = warp.predicate(op.a);
  for_each_lane(active, [&](int lane) { d[lane] = (low >> lane & 1U) != 0 ? value : T{0}; });
}
void expand_pair_handler(const Op& op, Warp& warp, LaneMask active) {
  auto* d = warp.lanes<std::uint32_t>(op.d);
  const auto value = static_cast<std::uint32_t>(op.immediate) & 0xFFFFU;
  const LaneMask low = warp.predicate(op.a);
  const LaneMask high = warp.predicate(op.b);
  for_each_lane(active, [&](int lane) {
    d[lane] =
        ((low >> lane & 1U) != 0 ? value : 0U) | ((high >> lane & 1U) != 0 ? value << 16 : 0U);
  });
}

// What `true` is in the result's type; sign extension makes all ones of any width.
std::int64_t true_value(Type type) {
  switch (type) {
  case Type::f32: return 0x3F800000;
  case Type::f16:
  case Type::f16x2: return 0x3C00;
  case Type::bf16:
  case Type::bf16x2: return 0x3F80;
  case Type::u16: return 0xFFFF;
  case Type::u32: return 0xFFFFFFFF;
  default: return -1;
  }
}

Result<void> lower_set(Lowering& lowering, const Instruction& instruction) {
  if (instruction.types.size() != 2)
    return unknown_form(lowering, instruction);
  const Type result = instruction.types[0];
  const Type type = instruction.types[1];
  KERNEVO_TRY(truth, emit_comparison(lowering, instruction, type, kNone));
  if (const Handler combine = combine_of(instruction); combine != nullptr) {
    KERNEVO_CHECK(need_operands(lowering, instruction, 4));
    KERNEVO_TRY(other, lowering.source(instruction, instruction.operands[3], Type::pred));
    for (const std::uint32_t half : {truth.low, truth.high}) {
      if (half == kNone)
        continue;
      Op& op = lowering.emit(combine);
      op.d = half;
      op.a = half;
      op.b = other;
    }
  }
  Type slot = lowering.register_type(instruction.operands[0]);
  if (slot == Type::none)
    slot = result;
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], slot));
  const Handler handler = is_packed(type)
                              ? (ptx::bits_of(slot) == 32 ? expand_pair_handler : nullptr)
                              : with_bits(ptx::bits_of(slot), [](auto tag) -> Handler {
                                  return expand_handler<typename decltype(tag)::Type>;
                                });
  if (handler == nullptr)
    return unknown_form(lowering, instruction);
  Op& op = lowering.emit(handler);
  op.d = d;
  op.a = truth.low;
  op.b = truth.high;
  op.immediate = true_value(result);
  return {};
}

template <class T> void select_handler(const Op& op, Warp& warp, LaneMask active) {
  T* d = warp.lanes<T>(op.d);
  const T* a = warp.lanes<T>(op.a);
  const T* b = warp.lanes<T>(op.b);
  const LaneMask choose = warp.predicate(op.c);
  if (active == kAllLanes) {
    KERNEVO_INDEPENDENT_LANES
    for (int lane = 0; lane < kWarpSize; ++lane)
      d[lane] = (choose >> lane & 1U) != 0 ? a[lane] : b[lane];
  } else {
    for_each_lane(active,
                  [&](int lane) { d[lane] = (choose >> lane & 1U) != 0 ? a[lane] : b[lane]; });
  }
}

Result<void> lower_selp(Lowering& lowering, const Instruction& instruction) {
  const Type type = instruction.type();
  const Handler handler = with_bits(ptx::bits_of(type), [](auto tag) -> Handler {
    return select_handler<typename decltype(tag)::Type>;
  });
  return emit_ternary(lowering, instruction, handler, type, type, type, Type::pred);
}

template <class T, class C> T select_by_sign(T a, T b, C c) {
  return c >= 0 ? a : b;
}
template <class T> T select_by_sign_ftz(T a, T b, float c) {
  return sem::flush(c) >= 0 ? a : b;
}

Result<void> lower_slct(Lowering& lowering, const Instruction& instruction) {
  if (instruction.types.size() != 2)
    return unknown_form(lowering, instruction);
  const Type type = instruction.types[0];
  const Type condition = instruction.types[1];
  const bool ftz = instruction.has(Mod::ftz);
  const Handler handler = with_bits(ptx::bits_of(type), [&](auto tag) -> Handler {
    using T = typename decltype(tag)::Type;
    if (condition == Type::f32)
      return ftz ? lanes_of<&select_by_sign_ftz<T>>() : lanes_of<&select_by_sign<T, float>>();
    return lanes_of<&select_by_sign<T, std::int32_t>>();
  });
  return emit_ternary(lowering, instruction, handler, type, type, type, condition);
}

template <class T, sem::Property P> void test_handler(const Op& op, Warp& warp, LaneMask active) {
  const T* a = warp.lanes<T>(op.a);
  write_predicate(warp, op.d, mask_where([&](int lane) { return sem::has_property<P>(a[lane]); }),
                  active);
}

Result<void> lower_testp(Lowering& lowering, const Instruction& instruction) {
  using sem::Property;
  struct Form {
    Mod modifier;
    Handler f32;
    Handler f64;
  };
  constexpr std::array<Form, 6> forms = {{
      {Mod::finite, test_handler<float, Property::finite>, test_handler<double, Property::finite>},
      {Mod::infinite, test_handler<float, Property::infinite>,
       test_handler<double, Property::infinite>},
      {Mod::number, test_handler<float, Property::number>, test_handler<double, Property::number>},
      {Mod::notanumber, test_handler<float, Property::notanumber>,
       test_handler<double, Property::notanumber>},
      {Mod::normal, test_handler<float, Property::normal>, test_handler<double, Property::normal>},
      {Mod::subnormal, test_handler<float, Property::subnormal>,
       test_handler<double, Property::subnormal>},
  }};
  Handler handler = nullptr;
  for (const Form& form : forms)
    if (instruction.has(form.modifier))
      handler = instruction.type() == Type::f64 ? form.f64 : form.f32;
  return emit_unary(lowering, instruction, handler, Type::pred, instruction.type());
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::setp, lower_setp},   FamilyEntry{Opcode::set, lower_set},
    FamilyEntry{Opcode::selp, lower_selp},   FamilyEntry{Opcode::slct, lower_slct},
    FamilyEntry{Opcode::testp, lower_testp},
};

} // namespace

std::span<const FamilyEntry> compare_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
