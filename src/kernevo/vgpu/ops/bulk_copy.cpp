// cp.async.bulk and cp.reduce.async.bulk: contiguous bytes between global and shared memory.
#include "kernevo/vgpu/ops/async_families.h"
#include "kernevo/vgpu/ops/bulk_families.h"
#include "kernevo/vgpu/ops/bulk_memory.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using semantics::BulkReduction;

constexpr std::uint32_t kChunk = 4096; // bytes in hand at a time

struct BulkDetail : Detail {
  AddressOperand to;
  AddressOperand from;
  Space to_space = Space::shared;
  Space from_space = Space::global;
  std::uint32_t size = kNone;
  std::uint32_t byte_mask = kNone; // .cp_mask: which bytes of every 16 to copy
  BulkCompletion completion;
  std::optional<BulkReduction> reduction;
  TensorType type = TensorType::u8;
};

std::vector<std::uint64_t> destinations(Warp& warp, const BulkCompletion& completion, int lane,
                                        std::uint64_t address) {
  if (completion.mask == kNone)
    return {address};
  return multicast(address, warp.lanes<std::uint16_t>(completion.mask)[lane]);
}

bool write_masked(Warp& warp, const Op& op, int lane, BulkPlace to, std::uint32_t bytes,
                  const std::byte* from, std::uint16_t mask) {
  for (std::uint32_t i = 0; i < bytes; ++i) {
    BulkPlace place = to;
    place.address += i;
    if ((mask >> (i % kBulkUnit) & 1U) != 0 && !write_run(warp, op, lane, place, 1, from + i))
      return false;
  }
  return true;
}

bool deliver(Warp& warp, const Op& op, int lane, const BulkPlace& to, std::uint32_t bytes,
             const std::byte* from) {
  const auto& detail = static_cast<const BulkDetail&>(*op.detail);
  if (detail.reduction)
    return reduce_run(warp, op, lane, to, bytes, from, *detail.reduction, detail.type);
  if (detail.byte_mask != kNone)
    return write_masked(warp, op, lane, to, bytes, from,
                        warp.lanes<std::uint16_t>(detail.byte_mask)[lane]);
  return write_run(warp, op, lane, to, bytes, from);
}

// One lane's copy. False after a fault.
bool copy(Warp& warp, const Op& op, int lane) {
  const auto& detail = static_cast<const BulkDetail&>(*op.detail);
  const std::uint32_t size = warp.lanes<std::uint32_t>(detail.size)[lane];
  const std::uint64_t to = lane_address(warp, detail.to, lane);
  BulkPlace source{detail.from_space, false, lane_address(warp, detail.from, lane)};
  if (!check_multiple(warp, op, lane, "size", size, kBulkUnit) ||
      !check_multiple(warp, op, lane, "destination", to, kBulkUnit) ||
      !check_multiple(warp, op, lane, "source", source.address, kBulkUnit))
    return false;
  const std::vector<std::uint64_t> places = destinations(warp, detail.completion, lane, to);
  alignas(64) std::array<std::byte, kChunk> chunk;
  for (std::uint32_t at = 0; at < size; at += kChunk) {
    const std::uint32_t bytes = std::min(kChunk, size - at);
    if (!read_run(warp, op, lane, source, bytes, chunk.data()))
      return false;
    source.address += bytes;
    for (const std::uint64_t place : places)
      if (!deliver(warp, op, lane, {detail.to_space, detail.completion.cluster, place + at}, bytes,
                   chunk.data()))
        return false;
  }
  if (!detail.completion.signals)
    return true;
  const std::uint64_t barrier = lane_address(warp, detail.completion.barrier, lane);
  for (const std::uint64_t place : destinations(warp, detail.completion, lane, barrier))
    if (!complete_transactions(warp, op, lane, place, {Space::shared, detail.completion.cluster},
                               size))
      return false;
  return true;
}

void run_copy(const Op& op, Warp& warp, LaneMask active) {
  for (; active != 0; active &= active - 1)
    if (!copy(warp, op, __builtin_ctz(active)))
      return;
}

void run_nothing(const Op&, Warp&, LaneMask) {}

TensorType cell_type(Type type) {
  switch (type) {
  case Type::s32: return TensorType::s32;
  case Type::b64:
  case Type::u64: return TensorType::u64;
  case Type::s64: return TensorType::s64;
  case Type::f16: return TensorType::f16;
  case Type::bf16: return TensorType::bf16;
  case Type::f32: return TensorType::f32;
  case Type::f64: return TensorType::f64;
  default: return TensorType::u32;
  }
}

} // namespace

std::optional<BulkReduction> bulk_reduction(const ptx::Instruction& instruction) {
  for (const Mod modifier : instruction.modifiers)
    switch (modifier) {
    case Mod::add: return BulkReduction::add;
    case Mod::min_: return BulkReduction::min;
    case Mod::max_: return BulkReduction::max;
    case Mod::inc: return BulkReduction::inc;
    case Mod::dec: return BulkReduction::dec;
    case Mod::and_: return BulkReduction::bit_and;
    case Mod::or_: return BulkReduction::bit_or;
    case Mod::xor_: return BulkReduction::bit_xor;
    default: break;
    }
  return std::nullopt;
}

Result<BulkCompletion> lower_completion_of(Lowering& lowering, const ptx::Instruction& instruction,
                                           std::size_t barrier, std::size_t mask) {
  BulkCompletion completion;
  // The first space is where the copy goes; only there may it be another block's memory.
  completion.cluster = instruction.space == Space::shared && instruction.has(Mod::shared_cluster);
  if (!instruction.has(Mod::complete_tx_bytes))
    return completion;
  completion.signals = true;
  KERNEVO_TRY(address, lower_address(lowering, instruction, instruction.operands.at(barrier)));
  completion.barrier = address;
  if (instruction.has(Mod::multicast_cluster)) {
    KERNEVO_TRY(slot, lowering.source(instruction, instruction.operands.at(mask), Type::b16));
    completion.mask = slot;
  }
  return completion;
}

Result<void> lower_bulk_copy(Lowering& lowering, const ptx::Instruction& instruction) {
  auto detail = std::make_unique<BulkDetail>();
  const auto& operands = instruction.operands;
  KERNEVO_TRY(to, lower_address(lowering, instruction, operands.at(0)));
  KERNEVO_TRY(from, lower_address(lowering, instruction, operands.at(1)));
  KERNEVO_TRY(size, lowering.source(instruction, operands.at(2), Type::u32));
  KERNEVO_TRY(completion, lower_completion_of(lowering, instruction, 3, 4));
  detail->to = to;
  detail->from = from;
  detail->to_space = instruction.space;
  detail->from_space = instruction.space2;
  detail->size = size;
  detail->completion = completion;
  if (instruction.has(Mod::cp_mask)) {
    KERNEVO_TRY(mask, lowering.source(instruction, operands.back(), Type::b16));
    detail->byte_mask = mask;
  }
  if (instruction.opcode == Opcode::cp_reduce_async_bulk) {
    detail->reduction = bulk_reduction(instruction);
    detail->type = cell_type(instruction.type());
    if (is_float(detail->type) && detail->to_space == Space::global)
      lowering.code().ordered = true;
  }
  lowering.emit(run_copy, OpKind::memory).detail = lowering.keep(std::move(detail));
  return {};
}

// A group has landed before it is committed.
Result<void> lower_bulk_group(Lowering& lowering, const ptx::Instruction&) {
  lowering.emit(run_nothing);
  return {};
}

Result<void> lower_bulk_prefetch(Lowering& lowering, const ptx::Instruction&) {
  lowering.emit(run_nothing);
  return {};
}

std::span<const FamilyEntry> bulk_families() {
  static constexpr std::array families = {
      FamilyEntry{Opcode::cp_async_bulk, lower_bulk_copy},
      FamilyEntry{Opcode::cp_reduce_async_bulk, lower_bulk_copy},
      FamilyEntry{Opcode::cp_async_bulk_commit_group, lower_bulk_group},
      FamilyEntry{Opcode::cp_async_bulk_wait_group, lower_bulk_group},
      FamilyEntry{Opcode::cp_async_bulk_prefetch, lower_bulk_prefetch},
      FamilyEntry{Opcode::cp_async_bulk_prefetch_tensor, lower_bulk_prefetch},
      FamilyEntry{Opcode::cp_async_bulk_tensor, lower_bulk_tensor},
      FamilyEntry{Opcode::cp_reduce_async_bulk_tensor, lower_bulk_tensor},
      FamilyEntry{Opcode::tensormap_replace, lower_tensormap_replace},
      FamilyEntry{Opcode::tensormap_cp_fenceproxy, lower_tensormap_copy},
  };
  return families;
}

} // namespace kernevo::vgpu::ops
