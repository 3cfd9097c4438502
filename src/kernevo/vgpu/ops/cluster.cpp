// Thread-block clusters: their barrier, and addresses in each other's shared memory.
#include "kernevo/vgpu/execute/cluster.h"
#include "kernevo/vgpu/execute/warp_state.h"

#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/program/lowering.h"

#include <array>
#include <fmt/format.h>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

// The cluster barrier, for the race detector.
std::uint64_t barrier_object(const WarpState& warp) {
  return cluster_region(*warp.block);
}

// op.immediate: 1 when the arrival releases.
void arrive(const Op& op, Warp& base, LaneMask active) {
  WarpState& warp = state_of(base);
  if (const LaneMask twice = active & warp.cluster_unwaited; twice != 0) {
    warp.raise(FindingKind::barrier_divergence, op, __builtin_ctz(twice),
               "barrier.cluster.arrive twice without barrier.cluster.wait between");
    return;
  }
  warp.cluster_arrived |= active;
  warp.cluster_unwaited |= active;
  if (op.immediate != 0 && warp.launch->races)
    warp.launch->races->release_to_cluster(static_cast<std::uint32_t>(warp.block->number),
                                           static_cast<std::uint32_t>(warp.index),
                                           barrier_object(warp), 0);
}

void wait(const Op& op, Warp& base, LaneMask active) {
  WarpState& warp = state_of(base);
  if (const LaneMask early = active & ~warp.cluster_unwaited; early != 0) {
    warp.raise(FindingKind::barrier_divergence, op, __builtin_ctz(early),
               "barrier.cluster.wait without barrier.cluster.arrive before");
    return;
  }
  if ((warp.cluster_arrived & active) != 0 && !complete_cluster_barrier(*warp.block)) {
    warp.must_wait = true;
    return;
  }
  warp.cluster_unwaited &= ~active;
  if (warp.launch->races)
    warp.launch->races->acquire_from_cluster(static_cast<std::uint32_t>(warp.block->number),
                                             static_cast<std::uint32_t>(warp.index),
                                             barrier_object(warp), 0);
}

// Replaces the rank in a shared address. op.immediate: the window's base, 0 inside .shared.
template <class T> void map_address(const Op& op, Warp& warp, LaneMask active) {
  const auto window = static_cast<std::uint64_t>(op.immediate);
  const std::uint32_t blocks = state_of(warp).launch->cluster_blocks;
  for (; active != 0; active &= active - 1) {
    const int lane = __builtin_ctz(active);
    const std::uint64_t address = warp.lanes<T>(op.a)[lane];
    const std::uint32_t rank = warp.lanes<std::uint32_t>(op.b)[lane];
    if (rank >= blocks) {
      warp.raise(FindingKind::bad_argument, op, lane,
                 fmt::format("mapa names the block of rank {}, the cluster has {} block{}", rank,
                             blocks, blocks == 1 ? "" : "s"));
      return;
    }
    if (window != 0 && !in_window(address, window)) {
      warp.raise(FindingKind::bad_argument, op, lane,
                 fmt::format("mapa of address {:#x}, which is not in shared memory", address));
      return;
    }
    const std::uint64_t offset = (address - window) & (kSharedPart - 1);
    warp.lanes<T>(op.d)[lane] =
        static_cast<T>(window + offset + (std::uint64_t{rank} << kRankShift));
  }
}

template <class T> void rank_of_address(const Op& op, Warp& warp, LaneMask active) {
  const auto window = static_cast<std::uint64_t>(op.immediate);
  for (; active != 0; active &= active - 1) {
    const int lane = __builtin_ctz(active);
    const std::uint64_t address = warp.lanes<T>(op.a)[lane];
    if (window != 0 && !in_window(address, window)) {
      warp.raise(
          FindingKind::bad_argument, op, lane,
          fmt::format("getctarank of address {:#x}, which is not in shared memory", address));
      return;
    }
    warp.lanes<std::uint32_t>(op.d)[lane] =
        static_cast<std::uint32_t>((address - window) >> kRankShift);
  }
}

Result<void> lower_arrive(Lowering& lowering, const Instruction& instruction) {
  lowering.emit(arrive, OpKind::memory).immediate = instruction.has(Mod::relaxed) ? 0 : 1;
  return {};
}

Result<void> lower_wait(Lowering& lowering, const Instruction& /*instruction*/) {
  lowering.emit(wait, OpKind::wait);
  return {};
}

// mapa d, a, b; getctarank d, a
Result<void> lower_address_query(Lowering& lowering, const Instruction& instruction) {
  const bool maps = instruction.opcode == Opcode::mapa;
  KERNEVO_CHECK(need_operands(lowering, instruction, maps ? 3 : 2));
  const Type type = instruction.type();
  const bool wide = ptx::bytes_of(type) == 8;
  const bool generic = instruction.space == Space::generic;
  if (generic && !wide)
    return tl::unexpected(lowering.unsupported(instruction, "a generic address is 64 bits wide"));
  KERNEVO_TRY(d,
              lowering.destination(instruction, instruction.operands[0], maps ? type : Type::u32));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], type));
  std::uint32_t rank = kNone;
  if (maps) {
    KERNEVO_TRY(slot, lowering.source(instruction, instruction.operands[2], Type::u32));
    rank = slot;
  }
  const Handler handler =
      maps ? (wide ? map_address<std::uint64_t> : map_address<std::uint32_t>)
           : (wide ? rank_of_address<std::uint64_t> : rank_of_address<std::uint32_t>);
  Op& op = lowering.emit(handler, OpKind::memory);
  op.d = d;
  op.a = a;
  op.b = rank;
  op.immediate = static_cast<std::int64_t>(generic ? kSharedWindow : 0);
  return {};
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::barrier_cluster_arrive, lower_arrive},
    FamilyEntry{Opcode::barrier_cluster_wait, lower_wait},
    FamilyEntry{Opcode::mapa, lower_address_query},
    FamilyEntry{Opcode::getctarank, lower_address_query},
};

} // namespace

std::span<const FamilyEntry> cluster_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
