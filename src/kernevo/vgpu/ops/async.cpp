// cp.async with its groups. See async_copies.h for when data lands.
#include "kernevo/vgpu/execute/block.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/ops/address.h"
#include "kernevo/vgpu/ops/async_copies.h"
#include "kernevo/vgpu/ops/async_families.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

struct CopyDetail : Detail {
  AddressOperand to;
  AddressOperand from;
  std::uint32_t size = 16;
  std::uint32_t source_size = kNone;   // slot of src-size
  std::uint32_t ignore_source = kNone; // slot of the predicate
};

bool store_copy(WarpState& warp, const PendingCopy& copy) {
  std::byte* to = warp.block->shared + copy.shared_offset;
  if (warp.launch->sanitize) {
    const Access access{Space::shared, AccessKind::store, false, copy.size};
    to = resolve(warp, *copy.op, copy.lane, copy.shared_offset, access, copy.bytes.data());
    if (to == nullptr)
      return false;
  }
  std::memcpy(to, copy.bytes.data(), copy.size);
  return true;
}

template <class Done> bool complete_if(Warp& base, const Done& done) {
  WarpState& warp = state_of(base);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < warp.pending.size(); ++i) {
    if (!done(warp.pending[i])) {
      if (kept != i)
        warp.pending[kept] = warp.pending[i];
      ++kept;
      continue;
    }
    if (!store_copy(warp, warp.pending[i]))
      return false;
  }
  warp.pending.resize(kept);
  return true;
}

// Claims the destination: bounds, alignment, and a race with whoever still uses it, since the copy
// may land from now on. Until it does, the bytes hold nothing a program may read.
bool claim_destination(WarpState& warp, const Op& op, const PendingCopy& copy) {
  const Access access{Space::shared, AccessKind::store, false, copy.size};
  if (resolve(warp, op, copy.lane, copy.shared_offset, access, copy.bytes.data()) == nullptr)
    return false;
  if (warp.launch->sanitize)
    std::fill_n(warp.block->shared_written.begin() +
                    static_cast<std::ptrdiff_t>(copy.shared_offset),
                copy.size, kCopyInFlight);
  return true;
}

bool read_source(Warp& warp, const Op& op, const CopyDetail& detail, std::uint32_t bytes,
                 PendingCopy& copy) {
  const std::uint64_t from = lane_address(warp, detail.from, copy.lane);
  if (bytes != 0 && from % detail.size != 0) {
    warp.raise(FindingKind::misaligned, op, copy.lane,
               "cp.async of " + std::to_string(detail.size) +
                   " bytes reads from an address that is not a multiple of its size");
    return false;
  }
  // A source shorter than the copy is read in powers of two, and not past its end.
  for (std::uint32_t at = 0; at < bytes;) {
    std::uint32_t piece = detail.size;
    while (piece > bytes - at)
      piece /= 2;
    const Access access{Space::global, AccessKind::load, false, piece};
    const std::byte* data = resolve(warp, op, copy.lane, from + at, access);
    if (data == nullptr)
      return false;
    std::memcpy(copy.bytes.data() + at, data, piece);
    at += piece;
  }
  return true;
}

void run_copy(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const CopyDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  const LaneMask ignored = detail.ignore_source == kNone ? 0 : warp.predicate(detail.ignore_source);
  while (active != 0) {
    const int lane = __builtin_ctz(active);
    active &= active - 1;
    PendingCopy copy;
    copy.lane = static_cast<std::uint8_t>(lane);
    copy.size = static_cast<std::uint8_t>(detail.size);
    copy.group = warp.open_group[static_cast<std::size_t>(lane)];
    // Its own shared memory, with or without the block's rank in the address.
    copy.shared_offset = lane_address(warp, detail.to, lane);
    if (copy.shared_offset >= warp.block->shared_base)
      copy.shared_offset -= warp.block->shared_base;
    copy.op = &op;
    std::uint32_t bytes = detail.size;
    if (detail.source_size != kNone)
      bytes = std::min(bytes, warp.lanes<std::uint32_t>(detail.source_size)[lane]);
    if ((ignored >> static_cast<unsigned>(lane) & 1U) != 0)
      bytes = 0;
    if (!read_source(warp, op, detail, bytes, copy) || !claim_destination(warp, op, copy))
      return;
    warp.pending.push_back(copy);
  }
}

void run_commit(const Op&, Warp& warp, LaneMask active) {
  for_each_lane(active,
                [&](int lane) { ++state_of(warp).open_group[static_cast<std::size_t>(lane)]; });
}

void run_wait_group(const Op& op, Warp& warp, LaneMask active) {
  complete_copies(warp, active, static_cast<std::uint32_t>(op.immediate));
}

void run_wait_all(const Op&, Warp& warp, LaneMask active) {
  complete_all_copies(warp, active);
}

Result<void> lower_copy(Lowering& lowering, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (operands.size() < 3 || operands[2].kind != Operand::Kind::integer ||
      (operands[2].bits != 4 && operands[2].bits != 8 && operands[2].bits != 16))
    return tl::unexpected<Error>(
        lowering.unsupported(instruction, "the size of a copy is 4, 8 or 16 bytes"));
  auto detail = std::make_unique<CopyDetail>();
  KERNEVO_TRY(to, lower_address(lowering, instruction, operands[0]));
  KERNEVO_TRY(from, lower_address(lowering, instruction, operands[1]));
  detail->to = to;
  detail->from = from;
  detail->size = static_cast<std::uint32_t>(operands[2].bits);
  // The last operand of a cache hint is its policy, which changes nothing here.
  const std::size_t end = operands.size() - (instruction.has(Mod::l2_cache_hint) ? 1 : 0);
  if (end > 3) {
    const bool is_predicate = lowering.register_type(operands[3]) == Type::pred;
    KERNEVO_TRY(slot,
                lowering.source(instruction, operands[3], is_predicate ? Type::pred : Type::u32));
    (is_predicate ? detail->ignore_source : detail->source_size) = slot;
  }
  lowering.emit(run_copy, OpKind::memory).detail = lowering.keep(std::move(detail));
  return {};
}

Result<void> lower_commit(Lowering& lowering, const ptx::Instruction&) {
  lowering.emit(run_commit);
  return {};
}

Result<void> lower_wait_group(Lowering& lowering, const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 1 || instruction.operands[0].kind != Operand::Kind::integer)
    return tl::unexpected<Error>(
        lowering.unsupported(instruction, "the number of groups must be an integer constant"));
  lowering.emit(run_wait_group, OpKind::memory).immediate =
      static_cast<std::int64_t>(instruction.operands[0].bits);
  return {};
}

Result<void> lower_wait_all(Lowering& lowering, const ptx::Instruction&) {
  lowering.emit(run_wait_all, OpKind::memory);
  return {};
}

bool in_mask(LaneMask mask, int lane) {
  return (mask >> static_cast<unsigned>(lane) & 1U) != 0;
}

} // namespace

bool complete_copies(Warp& warp, LaneMask lanes, std::uint32_t newest_kept) {
  const auto& open = state_of(warp).open_group;
  return complete_if(warp, [&](const PendingCopy& copy) {
    return in_mask(lanes, copy.lane) && std::uint64_t{copy.group} + newest_kept < open[copy.lane];
  });
}

bool complete_all_copies(Warp& warp, LaneMask lanes) {
  return complete_if(warp, [&](const PendingCopy& copy) { return in_mask(lanes, copy.lane); });
}

std::span<const FamilyEntry> async_families() {
  static constexpr std::array families = {
      FamilyEntry{ptx::Opcode::cp_async, lower_copy},
      FamilyEntry{ptx::Opcode::cp_async_commit_group, lower_commit},
      FamilyEntry{ptx::Opcode::cp_async_wait_group, lower_wait_group},
      FamilyEntry{ptx::Opcode::cp_async_wait_all, lower_wait_all},
      FamilyEntry{ptx::Opcode::cp_async_mbarrier_arrive, lower_mbarrier_arrive},
      FamilyEntry{ptx::Opcode::mbarrier_init, lower_mbarrier_init},
      FamilyEntry{ptx::Opcode::mbarrier_inval, lower_mbarrier_inval},
      FamilyEntry{ptx::Opcode::mbarrier_arrive, lower_mbarrier_arrive},
      FamilyEntry{ptx::Opcode::mbarrier_arrive_drop, lower_mbarrier_arrive},
      FamilyEntry{ptx::Opcode::mbarrier_expect_tx, lower_mbarrier_arrive},
      FamilyEntry{ptx::Opcode::mbarrier_complete_tx, lower_mbarrier_arrive},
      FamilyEntry{ptx::Opcode::mbarrier_test_wait, lower_mbarrier_wait},
      FamilyEntry{ptx::Opcode::mbarrier_try_wait, lower_mbarrier_wait},
      FamilyEntry{ptx::Opcode::mbarrier_pending_count, lower_mbarrier_pending_count},
  };
  return families;
}

} // namespace kernevo::vgpu::ops
