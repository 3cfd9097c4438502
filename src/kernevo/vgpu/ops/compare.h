// The comparison an instruction names, as functions on lanes.
#pragma once

#include "kernevo/vgpu/program/lowering.h"

namespace kernevo::vgpu::ops {

// Handlers that write the truth of a comparison of op.a and op.b as a lane mask into op.d; with a
// packed type, op.c receives that of the upper halves. Null when the type has no such comparison.
Handler comparison_handler(const ptx::Instruction& instruction, ptx::Type type);

} // namespace kernevo::vgpu::ops
