// Checks an instruction's operands against the forms of the instruction table.
#pragma once

#include "kernevo/ptx/mnemonic.h"
#include "kernevo/ptx/module.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::ptx {

struct OperandProblem {
  std::string message;
  std::optional<std::size_t> operand; // nothing = the instruction as a whole
};

// The first thing wrong with the operands, if any. `text` is the mnemonic as written.
std::optional<OperandProblem> verify_operands(const Mnemonic& mnemonic, std::string_view text,
                                              const Instruction& instruction,
                                              const std::vector<Register>& registers);

// Video instructions: their register operands may carry a selector, %r1.b0.
bool takes_selectors(Opcode opcode);

} // namespace kernevo::ptx
