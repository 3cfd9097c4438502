// The matrix instructions, one file per group, and the operand lists they share.
#pragma once

#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/program/lowering.h"
#include "kernevo/vgpu/semantics/matrix_layout.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernevo::vgpu::ops {

Result<void> lower_mma(Lowering& lowering, const ptx::Instruction& instruction); // mma, wmma.mma
Result<void> lower_quad_mma(Lowering& lowering, const ptx::Instruction& instruction); // m8n8k4 f16
Result<void> lower_wmma_load(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_wmma_store(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_ldmatrix(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_stmatrix(Lowering& lowering, const ptx::Instruction& instruction);
// wgmma.mma_async, and wgmma.fence, commit_group, wait_group
Result<void> lower_wgmma(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_wgmma_group(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_movmatrix(Lowering& lowering, const ptx::Instruction& instruction);

// The shape named by a modifier such as .m16n8k16.
std::optional<MatrixShape> matrix_shape(const ptx::Instruction& instruction);

// Slots of {r0, r1, ...}; a single register stands for a list of one.
using Slots = std::vector<std::uint32_t>;
Result<Slots> matrix_sources(Lowering& lowering, const ptx::Instruction& instruction,
                             const ptx::Operand& operand, ptx::Type type);
Result<Slots> matrix_destinations(Lowering& lowering, const ptx::Instruction& instruction,
                                  const ptx::Operand& operand, ptx::Type type);

// These instructions are defined only when the whole warp executes them. Raises a fault otherwise.
bool whole_warp(const Op& op, Warp& warp, LaneMask active);

} // namespace kernevo::vgpu::ops
