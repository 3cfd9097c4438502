// mov in all its shapes, cvta, isspacep.
#include "kernevo/vgpu/ops/move.h"

#include "kernevo/ptx/register_parts.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"

#include <array>
#include <cstring>
#include <vector>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

struct Bits128 {
  std::uint64_t low;
  std::uint64_t high;
};

template <class T> void copy_handler(const Op& op, Warp& warp, LaneMask active) {
  T* d = warp.lanes<T>(op.d);
  const T* a = warp.lanes<T>(op.a);
  if (active == kAllLanes)
    std::memmove(d, a, kWarpSize * sizeof(T));
  else
    for_each_lane(active, [&](int lane) { d[lane] = a[lane]; });
}
void copy_predicate(const Op& op, Warp& warp, LaneMask active) {
  write_predicate(warp, op.d, warp.predicate(op.a), active);
}

Handler copy_of(Type type) {
  if (type == Type::pred)
    return copy_predicate;
  if (ptx::bits_of(type) == 128)
    return copy_handler<Bits128>;
  return with_bits(ptx::bits_of(type),
                   [](auto tag) -> Handler { return copy_handler<typename decltype(tag)::Type>; });
}

// Element `index` (op.immediate) of a wider register, and back. A register's lanes are
// little-endian bytes, so an element is a run of them.
struct Element {
  std::uint32_t whole;
  std::uint32_t part;
  std::uint32_t index;
};
std::int64_t encode(const Element& element) {
  return static_cast<std::int64_t>(element.whole) << 32 |
         static_cast<std::int64_t>(element.part) << 16 | element.index;
}
Element decode(std::int64_t immediate) {
  return {static_cast<std::uint32_t>(immediate >> 32),
          static_cast<std::uint32_t>(immediate >> 16 & 0xFFFF),
          static_cast<std::uint32_t>(immediate & 0xFFFF)};
}

void unpack_any(const Op& op, Warp& warp, LaneMask active) {
  const Element element = decode(op.immediate);
  auto* d = warp.lanes<std::byte>(op.d);
  const auto* a = warp.lanes<std::byte>(op.a);
  for_each_lane(active, [&](int lane) {
    const auto i = static_cast<std::uint32_t>(lane);
    std::memcpy(d + i * element.part, a + i * element.whole + element.index * element.part,
                element.part);
  });
}
void pack_any(const Op& op, Warp& warp, LaneMask active) {
  const Element element = decode(op.immediate);
  auto* d = warp.lanes<std::byte>(op.d);
  const auto* a = warp.lanes<std::byte>(op.a);
  for_each_lane(active, [&](int lane) {
    const auto i = static_cast<std::uint32_t>(lane);
    std::memcpy(d + i * element.whole + element.index * element.part, a + i * element.part,
                element.part);
  });
}

template <class Whole, class Part> Whole pack_two(Part low, Part high) {
  return static_cast<Whole>(static_cast<Whole>(low) | static_cast<Whole>(high)
                                                          << (8 * sizeof(Part)));
}
template <class Whole, class Part, bool High> Part unpack_one(Whole whole) {
  return static_cast<Part>(High ? whole >> (8 * sizeof(Part)) : whole);
}

Result<void> lower_unpack(Lowering& lowering, const Instruction& instruction) {
  const auto& parts = instruction.operands[0].elements;
  const int whole_bits = ptx::bits_of(instruction.type());
  const Type part = ptx::bits_type(whole_bits / static_cast<int>(parts.size()));
  if (part == Type::none)
    return unknown_form(lowering, instruction);
  KERNEVO_TRY(whole, lowering.source(instruction, instruction.operands[1], instruction.type()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == Operand::Kind::sink)
      continue;
    KERNEVO_TRY(target, lowering.destination(instruction, parts[i], part));
    Handler handler = unpack_any;
    if (parts.size() == 2 && whole_bits == 64)
      handler = i == 0 ? lanes_of<&unpack_one<std::uint64_t, std::uint32_t, false>>()
                       : lanes_of<&unpack_one<std::uint64_t, std::uint32_t, true>>();
    else if (parts.size() == 2 && whole_bits == 32)
      handler = i == 0 ? lanes_of<&unpack_one<std::uint32_t, std::uint16_t, false>>()
                       : lanes_of<&unpack_one<std::uint32_t, std::uint16_t, true>>();
    Op& op = lowering.emit(handler);
    op.d = target;
    op.a = whole;
    op.immediate =
        encode({static_cast<std::uint32_t>(whole_bits / 8),
                static_cast<std::uint32_t>(ptx::bytes_of(part)), static_cast<std::uint32_t>(i)});
  }
  return {};
}

Result<void> lower_pack(Lowering& lowering, const Instruction& instruction) {
  const auto& parts = instruction.operands[1].elements;
  const int whole_bits = ptx::bits_of(instruction.type());
  const Type part = ptx::bits_type(whole_bits / static_cast<int>(parts.size()));
  if (part == Type::none)
    return unknown_form(lowering, instruction);
  std::vector<std::uint32_t> sources;
  for (const Operand& element : parts) {
    KERNEVO_TRY(source, lowering.source(instruction, element, part));
    sources.push_back(source);
  }
  KERNEVO_TRY(target,
              lowering.destination(instruction, instruction.operands[0], instruction.type()));
  if (sources.size() == 2 && whole_bits <= 64) {
    Op& op = lowering.emit(whole_bits == 64   ? lanes_of<&pack_two<std::uint64_t, std::uint32_t>>()
                           : whole_bits == 32 ? lanes_of<&pack_two<std::uint32_t, std::uint16_t>>()
                                              : lanes_of<&pack_two<std::uint16_t, std::uint8_t>>());
    op.d = target;
    op.a = sources[0];
    op.b = sources[1];
    return {};
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Op& op = lowering.emit(pack_any);
    op.d = target;
    op.a = sources[i];
    op.immediate =
        encode({static_cast<std::uint32_t>(whole_bits / 8),
                static_cast<std::uint32_t>(ptx::bytes_of(part)), static_cast<std::uint32_t>(i)});
  }
  return {};
}

Result<void> lower_mov(Lowering& lowering, const Instruction& instruction) {
  KERNEVO_CHECK(need_operands(lowering, instruction, 2));
  if (instruction.operands[0].kind == Operand::Kind::vector)
    return lower_unpack(lowering, instruction);
  if (instruction.operands[1].kind == Operand::Kind::vector)
    return lower_pack(lowering, instruction);
  const Type type = instruction.type();
  return emit_unary(lowering, instruction, copy_of(type), type, type);
}

void shift_window(const Op& op, Warp& warp, LaneMask active) {
  auto* d = warp.lanes<std::uint64_t>(op.d);
  const auto* a = warp.lanes<std::uint64_t>(op.a);
  const auto base = static_cast<std::uint64_t>(op.immediate);
  if (active == kAllLanes) {
    KERNEVO_INDEPENDENT_LANES
    for (int lane = 0; lane < kWarpSize; ++lane)
      d[lane] = a[lane] + base;
  } else {
    for_each_lane(active, [&](int lane) { d[lane] = a[lane] + base; });
  }
}

Result<void> lower_cvta(Lowering& lowering, const Instruction& instruction) {
  if (instruction.type() != Type::u64)
    return unknown_form(lowering, instruction);
  KERNEVO_CHECK(need_operands(lowering, instruction, 2));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], Type::u64));
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], Type::u64));
  const std::uint64_t base = window_base(instruction.space);
  Op& op = lowering.emit(base == 0 ? copy_handler<std::uint64_t> : shift_window);
  op.d = d;
  op.a = a;
  op.immediate =
      static_cast<std::int64_t>(instruction.has(Mod::to) ? std::uint64_t{0} - base : base);
  return {};
}

// Of a shared address: the block's own memory, or that of any block of its cluster?
bool names_block(Warp& warp, std::uint64_t address, bool any) {
  const BlockState& block = *warp.block;
  const std::uint64_t rank = from_generic(address, Space::shared) >> kRankShift;
  return any ? rank < state_of(warp).launch->cluster_blocks : rank == block.rank;
}

void in_space_handler(const Op& op, Warp& warp, LaneMask active) {
  const auto space = static_cast<Space>(op.immediate);
  const auto* a = warp.lanes<std::uint64_t>(op.a);
  LaneMask truth = 0;
  for_each_lane(active, [&](int lane) {
    // Constant memory lies among the global addresses but is a space of its own.
    bool inside = in_space(a[lane], space);
    if (space == Space::shared && inside)
      inside = names_block(warp, a[lane], op.b != kNone);
    if (space == Space::constant || (space == Space::global && inside))
      inside = is_constant_address(warp, a[lane]) == (space == Space::constant);
    truth |= static_cast<LaneMask>(inside) << lane;
  });
  write_predicate(warp, op.d, truth, active);
}

Result<void> lower_isspacep(Lowering& lowering, const Instruction& instruction) {
  KERNEVO_CHECK(need_operands(lowering, instruction, 2));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], Type::u64));
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], Type::pred));
  Op& op = lowering.emit(in_space_handler);
  op.d = d;
  op.a = a;
  op.immediate = static_cast<std::int64_t>(instruction.space);
  op.b = instruction.has(Mod::shared_cluster) ? 0 : kNone;
  return {};
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::mov, lower_mov},           FamilyEntry{Opcode::cvt, lower_cvt},
    FamilyEntry{Opcode::cvt_pack, lower_cvt_pack}, FamilyEntry{Opcode::cvta, lower_cvta},
    FamilyEntry{Opcode::isspacep, lower_isspacep},
};

} // namespace

std::span<const FamilyEntry> move_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
