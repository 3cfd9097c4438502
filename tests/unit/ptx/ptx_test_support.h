// Shared by the PTX tests: wraps snippets into modules and reports errors as text.
#pragma once

#include "kernevo/ptx/module.h"

#include <string>

namespace kernevo::ptx {

// A module whose only function `k` has these instructions. Registers: %p pred, %h b16, %r b32,
// %d b64, %q b128, %f f32, %g f64; parameter P, local parameter Q, label DONE before the final ret.
std::string in_kernel(const std::string& instructions, const std::string& target = "sm_80",
                      const std::string& version = "9.0");
// The line of the module that the first instruction stands on.
inline constexpr int kFirstLine = 10;

// The module, or a failed test and an empty module.
Module parse_good(const std::string& text);
// Function `k` of in_kernel(instructions).
Function kernel(const std::string& instructions);
// The formatted error, "" when the text parses.
std::string error_of(const std::string& text);

std::string read_data(const std::string& name);

} // namespace kernevo::ptx
