#pragma once

#include "kernevo/vgpu/program/lowering.h"

namespace kernevo::vgpu::ops {

Result<void> lower_mbarrier_init(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_mbarrier_inval(Lowering& lowering, const ptx::Instruction& instruction);
// mbarrier.arrive, arrive_drop, expect_tx, complete_tx and cp.async.mbarrier.arrive
Result<void> lower_mbarrier_arrive(Lowering& lowering, const ptx::Instruction& instruction);
// mbarrier.test_wait and try_wait
Result<void> lower_mbarrier_wait(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_mbarrier_pending_count(Lowering& lowering, const ptx::Instruction& instruction);

// The second half of st.async and red.async: `bytes` have landed, which the barrier at this operand
// counts.
Result<void> lower_completion(Lowering& lowering, const ptx::Instruction& instruction,
                              std::size_t index, std::uint32_t bytes);

// Where a barrier's address counts: its space, and whether it may name another block of the
// cluster.
struct BarrierSpace {
  ptx::Space space = ptx::Space::shared;
  bool cluster = false;
};
// The same for a copy made on behalf of a lane. False after a fault.
bool complete_transactions(Warp& warp, const Op& op, int lane, std::uint64_t address,
                           const BarrierSpace& where, std::uint32_t bytes);

} // namespace kernevo::vgpu::ops
