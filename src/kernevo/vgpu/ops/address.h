// [base + offset] operands.
#pragma once

#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/program/lowering.h"

#include <cstdint>

namespace kernevo::vgpu {

struct AddressOperand {
  std::uint32_t slot = kNone; // 32 lanes of the base
  bool wide = true;           // 8 bytes per lane, else 4 (zero-extended)
  std::int64_t offset = 0;
};

Result<AddressOperand> lower_address(Lowering& lowering, const ptx::Instruction& instruction,
                                     const ptx::Operand& operand);

// A 32-bit address wraps around at 32 bits.
inline std::uint64_t lane_address(Warp& warp, const AddressOperand& address, int lane) {
  const auto offset = static_cast<std::uint64_t>(address.offset);
  if (address.wide)
    return warp.lanes<std::uint64_t>(address.slot)[lane] + offset;
  return warp.lanes<std::uint32_t>(address.slot)[lane] + static_cast<std::uint32_t>(offset);
}

} // namespace kernevo::vgpu
