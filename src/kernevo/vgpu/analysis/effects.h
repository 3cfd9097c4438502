// Which registers an instruction reads and writes. Derived from the instruction table's operand
// roles, so that a new instruction is right without a line here.
#pragma once

#include "kernevo/ptx/module.h"

#include <vector>

namespace kernevo::vgpu::analysis {

struct Effects {
  std::vector<ptx::RegisterId> reads; // guard, addresses, sources, accumulators updated in place
  std::vector<ptx::RegisterId> writes;
  // Writes happen only for some lanes (a guard), so the old value of `writes` lives on.
  bool partial = false;
};

Effects effects_of(const ptx::Instruction& instruction);

} // namespace kernevo::vgpu::analysis
