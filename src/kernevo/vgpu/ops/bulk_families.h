// Bulk copies, one file per group, and the operands they share.
#pragma once

#include "kernevo/vgpu/ops/address.h"
#include "kernevo/vgpu/program/lowering.h"
#include "kernevo/vgpu/semantics/bulk_reduce.h"

#include <cstdint>
#include <optional>

namespace kernevo::vgpu::ops {

// cp.async.bulk and cp.reduce.async.bulk, the groups, the prefetches
Result<void> lower_bulk_copy(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_bulk_group(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_bulk_prefetch(Lowering& lowering, const ptx::Instruction& instruction);
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor
Result<void> lower_bulk_tensor(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_tensormap_replace(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_tensormap_copy(Lowering& lowering, const ptx::Instruction& instruction);

// Which reduction the modifiers name.
std::optional<semantics::BulkReduction> bulk_reduction(const ptx::Instruction& instruction);

// The barrier a copy signals, and the blocks it goes to.
struct BulkCompletion {
  bool signals = false;
  AddressOperand barrier;
  std::uint32_t mask = kNone; // slot of the block mask, 16 bits
  bool cluster = false;       // the destination is .shared::cluster
};
// `barrier` is the index of its operand; a multicast mask is `mask`.
Result<BulkCompletion> lower_completion_of(Lowering& lowering, const ptx::Instruction& instruction,
                                           std::size_t barrier, std::size_t mask);

} // namespace kernevo::vgpu::ops
