// Text from elsewhere on one line, and not endless.
#pragma once

#include <string>
#include <string_view>

namespace kernevo {

// Blanks and control characters become one blank, what else would disturb a line is escaped (see
// printable.h); beyond the limit in bytes it is cut, never inside
// a character of UTF-8, and "..." follows.
std::string one_line(std::string_view text, std::size_t limit);

} // namespace kernevo
