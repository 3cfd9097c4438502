// What changed between two texts, line by line.
#pragma once

#include <string>
#include <string_view>

namespace kernevo {

// As `diff -u` prints it, with the fewest changed lines (Myers 1986) and three lines of context;
// empty when the texts are equal. Texts with thousands of changes are shown as replaced.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name);

} // namespace kernevo
