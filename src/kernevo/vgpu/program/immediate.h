// A literal operand as the bits of the type it is read as.
#pragma once

#include "kernevo/ptx/module.h"

#include <cstdint>

namespace kernevo::vgpu {

// At most 64 bits; a predicate gives all lanes or none.
std::uint64_t immediate_bits(const ptx::Operand& operand, ptx::Type type);

} // namespace kernevo::vgpu
