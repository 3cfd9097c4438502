#pragma once

#include "kernevo/kernel/directive_text.h"
#include "kernevo/kernel/kernel_file.h"

#include <optional>
#include <string_view>

namespace kernevo {

// Parses "[cooperative] name[<arguments>]<<<grid, block[, shared]>>>(arguments)" in the given
// range. A Triton launch may leave out the block.
Result<LaunchDirective> parse_launch(const DirectiveText& text, DirectiveText::Range range,
                                     KernelLanguage language);

// "1.0f", "-2e-5", ".5": the value; nothing for integers and everything else.
std::optional<double> parse_float_literal(std::string_view text);

} // namespace kernevo
