#pragma once

#include <string_view>

namespace kernevo {

// A C identifier: letters, digits and underscores, not beginning with a digit.
constexpr bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9'))
    return false;
  for (const char c : text)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return true;
}

} // namespace kernevo
