#pragma once

#include "kernevo/sass/sass.h"

#include <string_view>

namespace kernevo::sass {

// One instruction as nvdisasm prints it, without offset, semicolon and encoding:
// "@!P0 LDG.E.128 R4, [R2.64+0x10]". Branch labels stay in the operands; the listing's parser
// resolves them.
SassInstruction parse_instruction(std::string_view text);

} // namespace kernevo::sass
