// What move.cpp and its conversions share.
#pragma once

#include "kernevo/vgpu/program/lowering.h"

namespace kernevo::vgpu::ops {

// cvt and cvt.pack (move_convert.cpp).
Result<void> lower_cvt(Lowering& lowering, const ptx::Instruction& instruction);
Result<void> lower_cvt_pack(Lowering& lowering, const ptx::Instruction& instruction);

// Handlers of one conversion between slots of exactly the types' sizes; null when there is none.
Handler scalar_conversion(const ptx::Instruction& instruction, ptx::Type to, ptx::Type from);
// Packed and fp8 forms with one or two sources.
Handler packed_conversion(const ptx::Instruction& instruction, ptx::Type to, ptx::Type from);
// Changes the width of an integer slot; the source's sign decides what fills it.
Handler resize_handler(ptx::Type to, ptx::Type from);

} // namespace kernevo::vgpu::ops
