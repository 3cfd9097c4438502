#include "kernevo/vgpu/ops/address.h"

namespace kernevo::vgpu {

Result<AddressOperand> lower_address(Lowering& lowering, const ptx::Instruction& instruction,
                                     const ptx::Operand& operand) {
  if (operand.kind != ptx::Operand::Kind::address || operand.elements.size() != 1)
    return tl::unexpected(lowering.unsupported(instruction, "an address in brackets is expected"));
  const ptx::Operand& base = operand.elements.front();
  AddressOperand address;
  address.offset = operand.offset;
  const ptx::Type declared = lowering.register_type(base);
  address.wide = declared == ptx::Type::none || ptx::bytes_of(declared) == 8;
  KERNEVO_TRY(slot,
              lowering.source(instruction, base, address.wide ? ptx::Type::u64 : ptx::Type::u32));
  address.slot = slot;
  return address;
}

} // namespace kernevo::vgpu
