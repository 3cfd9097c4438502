// How wide operands are: what the opcode's modifiers say of registers and memory.
#pragma once

#include "kernevo/sass/sass.h"

namespace kernevo::sass {

// What the instruction does to memory, from opcode and modifiers.
std::optional<MemoryAccess> memory_access(const SassInstruction& instruction);

// Consecutive registers in operand `index`, of which the first `written` are destinations.
int operand_registers(const SassInstruction& instruction, std::size_t index, std::size_t written);

// Registers that hold an address whose operand does not say (LDG.E [R2] on sm_75).
int address_registers(const SassInstruction& instruction);

} // namespace kernevo::sass
