// The characters of C names, whatever the locale says.
#pragma once

#include <algorithm>
#include <string_view>

namespace kernevo {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool continues_name(char c) {
  return starts_name(c) || is_digit(c);
}

// A C identifier: letters, digits and underscores, not beginning with a digit.
constexpr bool is_identifier(std::string_view text) {
  return !text.empty() && starts_name(text[0]) &&
         std::all_of(text.begin(), text.end(), continues_name);
}

} // namespace kernevo
