// Instructions that exchange values between the lanes of a warp. The interpreter has brought the
// lanes of the member mask together; lanes with other masks may stand at the same place, and each
// group of equal masks is served by itself. A lane that has exited takes no part.
#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/program/lowering.h"
#include "kernevo/vgpu/semantics/warp_exchange.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Operand;
using ptx::Type;

bool in_mask(LaneMask mask, int lane) {
  return (mask >> static_cast<unsigned>(lane) & 1U) != 0;
}

void set_predicate(Warp& warp, std::uint32_t slot, LaneMask active, LaneMask values) {
  LaneMask& predicate = warp.predicate(slot);
  predicate = (predicate & ~active) | (values & active);
}

// Calls f(members) for each set of active lanes that name the same mask. The forms without .sync
// have no mask: all active lanes are one set.
template <class F> void for_each_group(const Op& op, Warp& warp, LaneMask active, const F& f) {
  if (op.member_mask == kNone) {
    f(active);
    return;
  }
  const auto* masks = warp.lanes<std::uint32_t>(op.member_mask);
  while (active != 0) {
    const std::uint32_t mask = masks[std::countr_zero(active)];
    LaneMask members = 0;
    for_each_lane(active, [&](int lane) {
      if (masks[lane] == mask)
        members |= 1U << static_cast<unsigned>(lane);
    });
    f(members);
    active &= ~members;
  }
}

// shfl. A source lane that does not take part is undefined in PTX; here the reading lane keeps its
// own value, and the predicate still tells only whether the lane was in range.
template <ShuffleMode kMode> void run_shuffle(const Op& op, Warp& warp, LaneMask active) {
  std::array<std::uint32_t, kWarpSize> values;
  std::memcpy(values.data(), warp.lanes<std::uint32_t>(op.a), sizeof values);
  const auto* b = warp.lanes<std::uint32_t>(op.b);
  const auto* c = warp.lanes<std::uint32_t>(op.c);
  std::array<std::uint32_t, kWarpSize> result;
  LaneMask in_range = 0;
  for_each_lane(active, [&](int lane) {
    const ShuffleSource source = shuffle_source(kMode, lane, b[lane], c[lane]);
    const int from = in_mask(active, source.lane) ? source.lane : lane;
    result[static_cast<std::size_t>(lane)] = values[static_cast<std::size_t>(from)];
    if (source.in_range)
      in_range |= 1U << static_cast<unsigned>(lane);
  });
  auto* d = warp.lanes<std::uint32_t>(op.d);
  for_each_lane(active, [&](int lane) { d[lane] = result[static_cast<std::size_t>(lane)]; });
  if (op.immediate != kNone)
    set_predicate(warp, static_cast<std::uint32_t>(op.immediate), active, in_range);
}

enum class Vote : std::uint8_t { all, any, uniform, ballot };

template <Vote kVote> void run_vote(const Op& op, Warp& warp, LaneMask active) {
  const LaneMask votes = warp.predicate(op.a);
  LaneMask result = 0;
  for_each_group(op, warp, active, [&](LaneMask members) {
    const LaneMask yes = votes & members;
    if constexpr (kVote == Vote::ballot) {
      auto* d = warp.lanes<std::uint32_t>(op.d);
      for_each_lane(members, [&](int lane) { d[lane] = yes; });
    } else {
      const bool holds = kVote == Vote::all   ? yes == members
                         : kVote == Vote::any ? yes != 0
                                              : yes == members || yes == 0;
      result |= holds ? members : 0;
    }
  });
  if constexpr (kVote != Vote::ballot)
    set_predicate(warp, op.d, active, result);
}

template <class T> void run_match_any(const Op& op, Warp& warp, LaneMask active) {
  const T* values = warp.lanes<T>(op.a);
  std::array<LaneMask, kWarpSize> result{};
  for_each_group(op, warp, active, [&](LaneMask members) {
    while (members != 0) {
      const T value = values[std::countr_zero(members)];
      LaneMask same = 0;
      for_each_lane(members, [&](int lane) {
        if (values[lane] == value)
          same |= 1U << static_cast<unsigned>(lane);
      });
      for_each_lane(same, [&](int lane) { result[static_cast<std::size_t>(lane)] = same; });
      members &= ~same;
    }
  });
  auto* d = warp.lanes<std::uint32_t>(op.d);
  for_each_lane(active, [&](int lane) { d[lane] = result[static_cast<std::size_t>(lane)]; });
}

template <class T> void run_match_all(const Op& op, Warp& warp, LaneMask active) {
  const T* values = warp.lanes<T>(op.a);
  std::array<LaneMask, kWarpSize> result{};
  LaneMask matched = 0;
  for_each_group(op, warp, active, [&](LaneMask members) {
    const T value = values[std::countr_zero(members)];
    bool same = true;
    for_each_lane(members, [&](int lane) { same = same && values[lane] == value; });
    if (!same)
      return;
    matched |= members;
    for_each_lane(members, [&](int lane) { result[static_cast<std::size_t>(lane)] = members; });
  });
  auto* d = warp.lanes<std::uint32_t>(op.d);
  for_each_lane(active, [&](int lane) { d[lane] = result[static_cast<std::size_t>(lane)]; });
  if (op.immediate != kNone)
    set_predicate(warp, static_cast<std::uint32_t>(op.immediate), active, matched);
}

struct Add {
  std::uint32_t operator()(std::uint32_t x, std::uint32_t y) const { return x + y; }
};
struct And {
  std::uint32_t operator()(std::uint32_t x, std::uint32_t y) const { return x & y; }
};
struct Or {
  std::uint32_t operator()(std::uint32_t x, std::uint32_t y) const { return x | y; }
};
struct Xor {
  std::uint32_t operator()(std::uint32_t x, std::uint32_t y) const { return x ^ y; }
};
template <class T> struct Min {
  T operator()(T x, T y) const { return std::min(x, y); }
};
template <class T> struct Max {
  T operator()(T x, T y) const { return std::max(x, y); }
};
// Float minimum and maximum: a NaN loses unless .NaN is given; -0 is below +0.
template <bool kMax, bool kAbs, bool kNan> struct Extreme {
  float operator()(float x, float y) const {
    if constexpr (kAbs) {
      x = std::fabs(x);
      y = std::fabs(y);
    }
    const float canonical = std::bit_cast<float>(0x7FFFFFFFU);
    if (std::isnan(x) || std::isnan(y)) {
      if (kNan || (std::isnan(x) && std::isnan(y)))
        return canonical;
      return std::isnan(x) ? y : x;
    }
    if (x == y)
      return std::signbit(x) == kMax ? y : x;
    return (x < y) == kMax ? y : x;
  }
};

template <class T, class Combine> void run_redux(const Op& op, Warp& warp, LaneMask active) {
  const T* values = warp.lanes<T>(op.a);
  T* d = warp.lanes<T>(op.d);
  for_each_group(op, warp, active, [&](LaneMask members) {
    const Combine combine;
    const int first = std::countr_zero(members);
    // Floats meet themselves first, which applies .abs to a group of one.
    T result = std::is_floating_point_v<T> ? combine(values[first], values[first]) : values[first];
    for_each_lane(members & (members - 1),
                  [&](int lane) { result = combine(result, values[lane]); });
    for_each_lane(members, [&](int lane) { d[lane] = result; });
  });
}

void run_activemask(const Op& op, Warp& warp, LaneMask active) {
  auto* d = warp.lanes<std::uint32_t>(op.d);
  for_each_lane(active, [&](int lane) { d[lane] = active; });
}

void run_nothing(const Op&, Warp&, LaneMask) {
} // the interpreter has already synchronised the lanes

void run_elect(const Op& op, Warp& warp, LaneMask active) {
  auto* d = warp.lanes<std::uint32_t>(op.d);
  LaneMask leaders = 0;
  for_each_group(op, warp, active, [&](LaneMask members) {
    const int leader = std::countr_zero(members);
    leaders |= 1U << static_cast<unsigned>(leader);
    for_each_lane(members, [&](int lane) { d[lane] = static_cast<std::uint32_t>(leader); });
  });
  if (op.immediate != kNone)
    set_predicate(warp, static_cast<std::uint32_t>(op.immediate), active, leaders);
}

tl::unexpected<Error> wrong_form(const Lowering& lowering, const ptx::Instruction& instruction,
                                 std::string message) {
  return tl::unexpected<Error>(lowering.unsupported(instruction, std::move(message)));
}

// Slots of d or d|p.
struct Results {
  std::uint32_t value = kNone;
  std::uint32_t predicate = kNone;
};
Result<Results> lower_results(Lowering& lowering, const ptx::Instruction& instruction, Type type) {
  Results results;
  const Operand& operand = instruction.operands[0];
  const bool pair = operand.kind == Operand::Kind::pair && operand.elements.size() == 2;
  KERNEVO_TRY(value, lowering.destination(instruction, pair ? operand.elements[0] : operand, type));
  results.value = value;
  if (pair) {
    KERNEVO_TRY(predicate, lowering.destination(instruction, operand.elements[1], Type::pred));
    results.predicate = predicate;
  }
  return results;
}

// The op of a warp-level instruction: waits for the lanes of the mask operand, if it has one.
Op& emit_exchange(Lowering& lowering, Handler handler, std::uint32_t mask) {
  Op& op = lowering.emit(handler, mask == kNone ? OpKind::compute : OpKind::warp_sync);
  op.member_mask = mask;
  op.immediate = kNone;
  return op;
}

Result<std::uint32_t> lower_mask(Lowering& lowering, const ptx::Instruction& instruction,
                                 std::size_t index) {
  if (instruction.operands.size() <= index)
    return kNone;
  return lowering.source(instruction, instruction.operands[index], Type::b32);
}

Result<void> lower_shuffle(Lowering& lowering, const ptx::Instruction& instruction) {
  if (instruction.operands.size() < 4)
    return wrong_form(lowering, instruction, "shfl takes d, a, b, c and a member mask");
  const Handler handler = instruction.has(Mod::up)     ? run_shuffle<ShuffleMode::up>
                          : instruction.has(Mod::down) ? run_shuffle<ShuffleMode::down>
                          : instruction.has(Mod::bfly) ? run_shuffle<ShuffleMode::butterfly>
                          : instruction.has(Mod::idx)  ? run_shuffle<ShuffleMode::index>
                                                       : nullptr;
  if (handler == nullptr)
    return wrong_form(lowering, instruction, "shfl needs a mode: .up, .down, .bfly or .idx");
  KERNEVO_TRY(results, lower_results(lowering, instruction, Type::b32));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], Type::b32));
  KERNEVO_TRY(b, lowering.source(instruction, instruction.operands[2], Type::b32));
  KERNEVO_TRY(c, lowering.source(instruction, instruction.operands[3], Type::b32));
  KERNEVO_TRY(mask, lower_mask(lowering, instruction, 4));
  Op& op = emit_exchange(lowering, handler, mask);
  op.d = results.value;
  op.a = a;
  op.b = b;
  op.c = c;
  op.immediate = results.predicate;
  return {};
}

Result<void> lower_vote(Lowering& lowering, const ptx::Instruction& instruction) {
  if (instruction.operands.size() < 2)
    return wrong_form(lowering, instruction, "vote takes d, a and a member mask");
  const bool ballot = instruction.has(Mod::ballot);
  const Handler handler = ballot                      ? run_vote<Vote::ballot>
                          : instruction.has(Mod::all) ? run_vote<Vote::all>
                          : instruction.has(Mod::any) ? run_vote<Vote::any>
                          : instruction.has(Mod::uni) ? run_vote<Vote::uniform>
                                                      : nullptr;
  if (handler == nullptr)
    return wrong_form(lowering, instruction, "vote needs a mode: .all, .any, .uni or .ballot");
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0],
                                      ballot ? Type::b32 : Type::pred));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], Type::pred));
  KERNEVO_TRY(mask, lower_mask(lowering, instruction, 2));
  Op& op = emit_exchange(lowering, handler, mask);
  op.d = d;
  op.a = a;
  return {};
}

Result<void> lower_match(Lowering& lowering, const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 3)
    return wrong_form(lowering, instruction, "match takes d, a and a member mask");
  const bool wide = ptx::bits_of(instruction.type()) == 64;
  const bool any = instruction.opcode == ptx::Opcode::match_any;
  const Handler handler =
      any ? (wide ? run_match_any<std::uint64_t> : run_match_any<std::uint32_t>)
          : (wide ? run_match_all<std::uint64_t> : run_match_all<std::uint32_t>);
  KERNEVO_TRY(results, lower_results(lowering, instruction, Type::b32));
  KERNEVO_TRY(a,
              lowering.source(instruction, instruction.operands[1], wide ? Type::b64 : Type::b32));
  KERNEVO_TRY(mask, lower_mask(lowering, instruction, 2));
  Op& op = emit_exchange(lowering, handler, mask);
  op.d = results.value;
  op.a = a;
  op.immediate = results.predicate;
  return {};
}

template <bool kMax> Handler float_redux(bool absolute, bool nan) {
  if (absolute)
    return nan ? run_redux<float, Extreme<kMax, true, true>>
               : run_redux<float, Extreme<kMax, true, false>>;
  return nan ? run_redux<float, Extreme<kMax, false, true>>
             : run_redux<float, Extreme<kMax, false, false>>;
}

Handler redux_handler(const ptx::Instruction& instruction) {
  const Type type = instruction.type();
  const bool is_min = instruction.has(Mod::min_);
  const bool is_max = instruction.has(Mod::max_);
  if (type == Type::f32 && (is_min || is_max)) {
    const bool absolute = instruction.has(Mod::abs_);
    const bool nan = instruction.has(Mod::nan);
    return is_max ? float_redux<true>(absolute, nan) : float_redux<false>(absolute, nan);
  }
  if (type != Type::s32 && type != Type::u32 && type != Type::b32)
    return nullptr;
  if (is_min)
    return type == Type::s32 ? run_redux<std::int32_t, Min<std::int32_t>>
                             : run_redux<std::uint32_t, Min<std::uint32_t>>;
  if (is_max)
    return type == Type::s32 ? run_redux<std::int32_t, Max<std::int32_t>>
                             : run_redux<std::uint32_t, Max<std::uint32_t>>;
  if (instruction.has(Mod::add))
    return run_redux<std::uint32_t, Add>;
  if (instruction.has(Mod::and_))
    return run_redux<std::uint32_t, And>;
  if (instruction.has(Mod::or_))
    return run_redux<std::uint32_t, Or>;
  if (instruction.has(Mod::xor_))
    return run_redux<std::uint32_t, Xor>;
  return nullptr;
}

Result<void> lower_redux(Lowering& lowering, const ptx::Instruction& instruction) {
  const Handler handler = redux_handler(instruction);
  if (handler == nullptr || instruction.operands.size() != 3)
    return wrong_form(
        lowering, instruction,
        "redux does add, min, max, and, or, xor of 32-bit integers and min, max of f32");
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], instruction.type()));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], instruction.type()));
  KERNEVO_TRY(mask, lower_mask(lowering, instruction, 2));
  Op& op = emit_exchange(lowering, handler, mask);
  op.d = d;
  op.a = a;
  return {};
}

Result<void> lower_activemask(Lowering& lowering, const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 1)
    return wrong_form(lowering, instruction, "activemask takes one register");
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], Type::b32));
  lowering.emit(run_activemask).d = d;
  return {};
}

Result<void> lower_warp_barrier(Lowering& lowering, const ptx::Instruction& instruction) {
  KERNEVO_TRY(mask, lower_mask(lowering, instruction, 0));
  if (mask == kNone)
    return wrong_form(lowering, instruction, "bar.warp.sync takes a member mask");
  emit_exchange(lowering, run_nothing, mask);
  return {};
}

Result<void> lower_elect(Lowering& lowering, const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 2)
    return wrong_form(lowering, instruction, "elect takes d|p and a member mask");
  KERNEVO_TRY(results, lower_results(lowering, instruction, Type::b32));
  KERNEVO_TRY(mask, lower_mask(lowering, instruction, 1));
  Op& op = emit_exchange(lowering, run_elect, mask);
  op.d = results.value;
  op.immediate = results.predicate;
  return {};
}

} // namespace

std::span<const FamilyEntry> warp_families() {
  static constexpr std::array families = {
      FamilyEntry{ptx::Opcode::shfl, lower_shuffle},
      FamilyEntry{ptx::Opcode::vote, lower_vote},
      FamilyEntry{ptx::Opcode::match_any, lower_match},
      FamilyEntry{ptx::Opcode::match_all, lower_match},
      FamilyEntry{ptx::Opcode::redux, lower_redux},
      FamilyEntry{ptx::Opcode::activemask, lower_activemask},
      FamilyEntry{ptx::Opcode::bar_warp_sync, lower_warp_barrier},
      FamilyEntry{ptx::Opcode::elect, lower_elect},
  };
  return families;
}

} // namespace kernevo::vgpu::ops
