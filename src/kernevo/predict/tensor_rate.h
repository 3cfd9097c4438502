// How long tensor cores work on one machine instruction.
#pragma once

#include "kernevo/model/gpu.h"
#include "kernevo/sass/sass.h"

namespace kernevo {

// Operations (two for a multiply-add) of one execution by a warp; 0 when it is no matrix multiply
// or has a shape that is not known.
double tensor_operations(const sass::SassInstruction& instruction);

// Cycles of a multiprocessor's tensor cores, at the GPU's dense rate for the operand type.
double tensor_cycles(const sass::SassInstruction& instruction, const Gpu& gpu);

} // namespace kernevo
