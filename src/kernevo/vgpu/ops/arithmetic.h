// Handlers of the arithmetic families, by number format. Null where the format has no such form.
#pragma once

#include "kernevo/vgpu/program/lowering.h"

namespace kernevo::vgpu::ops {

Handler integer_arithmetic(const ptx::Instruction& instruction);
Handler f32_arithmetic(const ptx::Instruction& instruction);
Handler f64_arithmetic(const ptx::Instruction& instruction);
Handler half_arithmetic(const ptx::Instruction& instruction); // f16, bf16 and their pairs
// min, max of every floating format.
Handler float_extremum(const ptx::Instruction& instruction);

// add, sub, mad with .cc and addc, subc, madc (integer_carry.cpp).
Result<void> lower_carry(Lowering& lowering, const ptx::Instruction& instruction);
// vadd2, vadd4 and their kin (integer_video.cpp).
Result<void> lower_video(Lowering& lowering, const ptx::Instruction& instruction);
// vadd, vmad, vset and their kin.
Result<void> lower_scalar_video(Lowering& lowering, const ptx::Instruction& instruction);

} // namespace kernevo::vgpu::ops
