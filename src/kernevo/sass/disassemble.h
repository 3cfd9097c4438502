// PTX -> machine instructions, with the assembler and the disassembler of the toolchain.
#pragma once

#include "kernevo/sass/sass.h"
#include "kernevo/toolchain/toolchain.h"

#include <string_view>

namespace kernevo::sass {

struct DisassembleOptions {
  std::string architecture = "sm_80"; // or sm_90a; at or above the PTX's target
  std::vector<std::string> flags;     // ptxas takes those that begin with -O
  std::optional<int> max_registers;
  std::string entry = {}; // only this kernel and what it calls; empty: all
};

// Lines in the answer are lines of the text given here. PTX that ptxas refuses is an input error
// with its line; a toolchain without ptxas or nvdisasm is `unsupported`, so that callers can go on
// with what the PTX alone says.
Result<SassModule> disassemble(const Toolchain& toolchain, std::string_view ptx,
                               const DisassembleOptions& options = {});
// The same, and nothing where the toolchain cannot.
Result<std::optional<SassModule>> disassemble_if_possible(const Toolchain& toolchain,
                                                          std::string_view ptx,
                                                          const DisassembleOptions& options = {});

} // namespace kernevo::sass
