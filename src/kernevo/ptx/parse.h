// PTX text -> typed module.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/ptx/module.h"

#include <string>
#include <string_view>

namespace kernevo::ptx {

// Parses and verifies: every instruction is known, its modifiers, types and operands are legal for
// it, every name resolves. An error names the PTX file, line, column and instruction; an unknown
// instruction is ErrorCode::unsupported, malformed text ErrorCode::input.
Result<Module> parse(std::string_view text, const std::string& file = "<ptx>");

} // namespace kernevo::ptx
