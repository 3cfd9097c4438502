// Text for terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernevo::cli {

bool is_terminal(); // standard output
std::size_t terminal_width();
// At most so many columns, with an ellipsis where something was cut.
std::string cut(std::string_view text, std::size_t columns);
std::string seconds_text(double seconds); // "85 s", "2 min 5 s"

} // namespace kernevo::cli
