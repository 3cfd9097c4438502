#pragma once

#include "kernevo/vgpu/lowering.h"

namespace kernevo::vgpu::ops {

Result<void> lower_mbarrier_init(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_mbarrier_inval(Lowering& lowering, const ptx::Instruction& instruction);
// mbarrier.arrive, arrive_drop, expect_tx, complete_tx and cp.async.mbarrier.arrive
Result<void> lower_mbarrier_arrive(Lowering& lowering, const ptx::Instruction& instruction);
// mbarrier.test_wait and try_wait
Result<void> lower_mbarrier_wait(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_mbarrier_pending_count(Lowering& lowering, const ptx::Instruction& instruction);

} // namespace kernevo::vgpu::ops
