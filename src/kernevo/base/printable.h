// The door for text that others wrote: what a kernel prints, what a compiler quotes, what a
// proposer says of its work. Behind it, text is only text, in a terminal, in JSON, on a page, in a
// prompt.
#pragma once

#include <string>
#include <string_view>

namespace kernevo {

enum class Lines {
  joined, // ends of lines are escaped, tabs become blanks: a field that is shown on one line
  kept,   // ends of lines and tabs stay
};

// Control characters (C0, C1, delete), what turns the direction of writing, separators of lines and
// bytes that are no UTF-8 become escapes that can be read: \x1b, \r, \u202e, \xff. All else stays.
std::string printable(std::string_view text, Lines lines = Lines::joined);

// JSON as it was written, with such characters escaped as JSON does: the same value, but no byte of
// it moves a cursor.
std::string printable_json(std::string json);

} // namespace kernevo
