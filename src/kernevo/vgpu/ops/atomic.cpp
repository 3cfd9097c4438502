// atom and red. Lanes act one after the other in ascending order; blocks on other cores are kept
// out with host atomics, and by turns where their order would show (see order_dependence.h).
#include "kernevo/base/small_floats.h"
#include "kernevo/vgpu/execute/cluster.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/ops/address.h"
#include "kernevo/vgpu/ops/async_families.h"
#include "kernevo/vgpu/ops/fence.h"
#include "kernevo/vgpu/program/lowering.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

// New content of a cell, all values as raw bits in the low end.
using Combine = std::uint64_t (*)(std::uint64_t old, std::uint64_t b, std::uint64_t c);

constexpr std::size_t kMostElements = 8;

struct AtomicDetail : Detail {
  AddressOperand address;
  Access access;
  Combine in_global = nullptr;
  Combine in_shared = nullptr; // f32 addition keeps subnormals here, and only here
  std::uint32_t cell = 4;      // bytes of one element
  std::uint32_t elements = 1;
  std::array<std::uint32_t, kMostElements> results{};
  std::array<std::uint32_t, kMostElements> b{};
  std::array<std::uint32_t, kMostElements> c{};
};

template <class T> T as(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

template <class T> std::uint64_t raw(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

std::uint64_t exchange(std::uint64_t /*old*/, std::uint64_t b, std::uint64_t /*c*/) {
  return b;
}
std::uint64_t compare_and_swap(std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  return old == b ? c : old;
}
std::uint64_t bit_and(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  return old & b;
}
std::uint64_t bit_or(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  return old | b;
}
std::uint64_t bit_xor(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  return old ^ b;
}
std::uint64_t increment(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  return old >= b ? 0 : old + 1;
}
std::uint64_t decrement(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  return old == 0 || old > b ? b : old - 1;
}

template <class T> std::uint64_t add(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  if constexpr (std::is_floating_point_v<T>) {
    const T sum = as<T>(old) + as<T>(b);
    return std::isnan(sum) ? raw(std::numeric_limits<T>::quiet_NaN()) : raw(sum);
  } else {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<Unsigned>(static_cast<Unsigned>(old) + static_cast<Unsigned>(b));
  }
}

std::uint64_t add_flushing(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  const float sum = flush(flush(as<float>(old)) + flush(as<float>(b)));
  return std::isnan(sum) ? 0x7FFFFFFFU : raw(sum);
}

template <class T> std::uint64_t least(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  return raw(std::min(as<T>(old), as<T>(b)));
}
template <class T> std::uint64_t greatest(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  return raw(std::max(as<T>(old), as<T>(b)));
}

struct Half {
  static double widen(std::uint16_t bits) { return half_to_float(bits); }
  static std::uint16_t narrow(double value) { return double_to_half(value); }
};
struct Bfloat {
  static double widen(std::uint16_t bits) { return bfloat_to_float(bits); }
  static std::uint16_t narrow(double value) { return double_to_bfloat(value); }
};

struct Sum {
  static double apply(double a, double b) { return a + b; }
};
struct Least {
  static double apply(double a, double b) { return std::fmin(a, b); }
};
struct Greatest {
  static double apply(double a, double b) { return std::fmax(a, b); }
};

// One or two 16-bit floats in a cell.
template <class Format, class Action, int Count>
std::uint64_t small(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
  std::uint64_t result = 0;
  for (int i = 0; i < Count; ++i) {
    const auto shift = static_cast<unsigned>(16 * i);
    const double value = Action::apply(Format::widen(static_cast<std::uint16_t>(old >> shift)),
                                       Format::widen(static_cast<std::uint16_t>(b >> shift)));
    result |= std::uint64_t{Format::narrow(value)} << shift;
  }
  return result;
}

template <class Action> Combine choose_small(Type type) {
  switch (type) {
  case Type::f16: return small<Half, Action, 1>;
  case Type::f16x2: return small<Half, Action, 2>;
  case Type::bf16: return small<Bfloat, Action, 1>;
  case Type::bf16x2: return small<Bfloat, Action, 2>;
  default: return nullptr;
  }
}

Combine choose_add(Type type) {
  switch (type) {
  case Type::u32:
  case Type::s32: return add<std::uint32_t>;
  case Type::u64:
  case Type::s64: return add<std::uint64_t>;
  case Type::f32: return add<float>;
  case Type::f64: return add<double>;
  default: return choose_small<Sum>(type);
  }
}

template <bool Maximum> Combine choose_extreme(Type type) {
  switch (type) {
  case Type::u32: return Maximum ? greatest<std::uint32_t> : least<std::uint32_t>;
  case Type::s32: return Maximum ? greatest<std::int32_t> : least<std::int32_t>;
  case Type::u64: return Maximum ? greatest<std::uint64_t> : least<std::uint64_t>;
  case Type::s64: return Maximum ? greatest<std::int64_t> : least<std::int64_t>;
  default: return Maximum ? choose_small<Greatest>(type) : choose_small<Least>(type);
  }
}

Combine choose(const Instruction& instruction) {
  const Type type = instruction.type();
  for (const Mod mod : instruction.modifiers)
    switch (mod) {
    case Mod::add: return choose_add(type);
    case Mod::min_: return choose_extreme<false>(type);
    case Mod::max_: return choose_extreme<true>(type);
    case Mod::and_: return bit_and;
    case Mod::or_: return bit_or;
    case Mod::xor_: return bit_xor;
    case Mod::exch: return exchange;
    case Mod::cas: return compare_and_swap;
    case Mod::inc: return type == Type::u32 ? increment : nullptr;
    case Mod::dec: return type == Type::u32 ? decrement : nullptr;
    default: break;
    }
  return nullptr;
}

// Replaces the cell's content; returns what was there.
template <class T>
std::uint64_t update(std::byte* cell, bool contended, Combine combine, std::uint64_t b,
                     std::uint64_t c) {
  auto* place = reinterpret_cast<T*>(cell); // NOLINT
  if (!contended) {
    const T old = *place;
    *place = static_cast<T>(combine(old, b, c));
    return old;
  }
  const std::atomic_ref<T> shared(*place);
  T old = shared.load(std::memory_order_relaxed);
  while (!shared.compare_exchange_weak(old, static_cast<T>(combine(old, b, c)),
                                       std::memory_order_seq_cst)) {
  }
  return old;
}

std::uint64_t read_lane(Warp& warp, std::uint32_t slot, std::uint32_t size, int lane) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, warp.frame + slot + std::size_t{size} * static_cast<std::size_t>(lane), size);
  return bits;
}

// Removes the lane that acts next: the lowest, or any when the order is shuffled.
int take_lane(WarpState& warp, LaneMask& rest) {
  LaneMask chosen = rest;
  if (warp.launch->options->order == BlockOrder::shuffled)
    for (auto skip = warp.block->choose(static_cast<std::uint64_t>(std::popcount(rest))); skip > 0;
         --skip)
      chosen &= chosen - 1;
  const int lane = std::countr_zero(chosen);
  rest &= ~(LaneMask{1} << static_cast<unsigned>(lane));
  return lane;
}

void count_lanes(WarpState& warp, LaneMask active) {
  if (warp.launch->counts_memory)
    warp.block->memory.atomic_lanes += static_cast<std::uint64_t>(std::popcount(active));
}

void run(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const AtomicDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  count_lanes(warp, active);
  for (LaneMask rest = active; rest != 0;) {
    const int lane = take_lane(warp, rest);
    std::byte* cell =
        resolve(warp, op, lane, lane_address(warp, detail.address, lane), detail.access);
    if (cell == nullptr)
      return;
    const bool in_shared = shared_owner(*warp.block, cell) != nullptr;
    const bool contended = warp.launch->contended && !in_shared;
    if (contended && op.immediate == kOrdered && !await_turn(warp))
      return;
    const Combine combine = in_shared ? detail.in_shared : detail.in_global;
    for (std::uint32_t i = 0; i < detail.elements; ++i, cell += detail.cell) {
      const std::uint64_t b = read_lane(warp, detail.b[i], detail.cell, lane);
      const std::uint64_t c =
          detail.c[i] == kNone ? 0 : read_lane(warp, detail.c[i], detail.cell, lane);
      std::uint64_t old = 0;
      if (detail.cell == 2)
        old = update<std::uint16_t>(cell, contended, combine, b, c);
      else if (detail.cell == 4)
        old = update<std::uint32_t>(cell, contended, combine, b, c);
      else
        old = update<std::uint64_t>(cell, contended, combine, b, c);
      if (detail.results[i] != kNone)
        std::memcpy(warp.frame + detail.results[i] +
                        std::size_t{detail.cell} * static_cast<std::size_t>(lane),
                    &old, detail.cell);
    }
  }
}

// 128-bit exchange and compare-and-swap: no host has them for certain, so one lock serves all.
void run_wide(const Op& op, Warp& base, LaneMask active) {
  static std::mutex mutex;
  const auto& detail = static_cast<const AtomicDetail&>(*op.detail);
  constexpr std::size_t bytes = 16;
  auto lane_of = [&](std::uint32_t slot, int lane) {
    return base.frame + slot + bytes * static_cast<std::size_t>(lane);
  };
  count_lanes(state_of(base), active);
  if (state_of(base).launch->contended && op.immediate == kOrdered && !await_turn(state_of(base)))
    return;
  for (LaneMask rest = active; rest != 0;) {
    const int lane = take_lane(state_of(base), rest);
    std::byte* cell =
        resolve(base, op, lane, lane_address(base, detail.address, lane), detail.access);
    if (cell == nullptr)
      return;
    const std::lock_guard lock(mutex);
    std::array<std::byte, bytes> old{};
    std::memcpy(old.data(), cell, bytes);
    if (detail.c[0] == kNone)
      std::memcpy(cell, lane_of(detail.b[0], lane), bytes);
    else if (std::memcmp(old.data(), lane_of(detail.b[0], lane), bytes) == 0)
      std::memcpy(cell, lane_of(detail.c[0], lane), bytes);
    if (detail.results[0] != kNone)
      std::memcpy(lane_of(detail.results[0], lane), old.data(), bytes);
  }
}

const Operand& element(const Operand& operand, std::uint32_t index) {
  return operand.kind == Operand::Kind::vector ? operand.elements[index] : operand;
}

// atom.op d, [a], b{, c}; red.op [a], b. A cache policy may follow.
Result<void> atomic(Lowering& lowering, const Instruction& instruction) {
  const bool returns = instruction.opcode == Opcode::atom;
  const Type type = instruction.type();
  auto detail = std::make_unique<AtomicDetail>();
  const Combine combine = choose(instruction);
  const int bytes = ptx::bytes_of(type);
  if (combine == nullptr || (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) ||
      (bytes == 16 && combine != exchange && combine != compare_and_swap))
    return tl::unexpected(
        lowering.unsupported(instruction, "no such atomic operation on this type"));
  detail->in_global = type == Type::f32 && instruction.has(Mod::add) ? add_flushing : combine;
  detail->in_shared = combine;
  detail->cell = static_cast<std::uint32_t>(bytes);
  std::size_t at = 0;
  const Operand* result = returns ? &instruction.operands.at(at++) : nullptr;
  KERNEVO_TRY(address, lower_address(lowering, instruction, instruction.operands.at(at++)));
  detail->address = address;
  const Operand& b = instruction.operands.at(at++);
  const Operand* c = instruction.has(Mod::cas) ? &instruction.operands.at(at++) : nullptr;
  detail->elements =
      b.kind == Operand::Kind::vector ? static_cast<std::uint32_t>(b.elements.size()) : 1;
  if (detail->elements > kMostElements || (bytes == 16 && detail->elements != 1))
    return tl::unexpected(lowering.unsupported(instruction, "too many elements"));
  detail->access.space = instruction.space;
  detail->access.kind = AccessKind::atomic;
  detail->access.strong = true;
  detail->access.block_scope = instruction.has(Mod::cta);
  detail->access.polls = returns;
  detail->access.cluster = instruction.has(Mod::shared_cluster);
  detail->access.overwrites = combine == exchange;
  detail->access.size = detail->cell * detail->elements;
  detail->results.fill(kNone);
  detail->c.fill(kNone);
  for (std::uint32_t i = 0; i < detail->elements; ++i) {
    KERNEVO_TRY(slot_b, lowering.source(instruction, element(b, i), type));
    detail->b[i] = slot_b;
    if (c != nullptr) {
      KERNEVO_TRY(slot_c, lowering.source(instruction, element(*c, i), type));
      detail->c[i] = slot_c;
    }
    if (result != nullptr && result->kind != Operand::Kind::sink) {
      KERNEVO_TRY(slot, lowering.destination(instruction, element(*result, i), type));
      detail->results[i] = slot;
    }
  }
  if (instruction.has(Mod::release) || instruction.has(Mod::acq_rel))
    lowering.emit(fence);
  Op& op = lowering.emit(bytes == 16 ? run_wide : run, OpKind::memory);
  const std::uint32_t size = detail->access.size;
  op.detail = lowering.keep(std::move(detail));
  if (instruction.has(Mod::complete_tx_bytes))
    return lower_completion(lowering, instruction, at, size);
  return {};
}

constexpr std::array kFamilies = {FamilyEntry{Opcode::atom, atomic},
                                  FamilyEntry{Opcode::red, atomic},
                                  FamilyEntry{Opcode::red_async, atomic}};

} // namespace

std::span<const FamilyEntry> atomic_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
