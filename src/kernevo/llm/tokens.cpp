#include "kernevo/llm/client.h"

#include <algorithm>

namespace kernevo::llm {

// Tokenisers make a token of three to four bytes of English or code, and of one and a half to
// three of other scripts. The estimate leans to the expensive side.
std::uint64_t estimate_tokens(std::string_view text) {
  const auto wide = static_cast<std::uint64_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & '\x80') != 0; }));
  const std::uint64_t narrow = text.size() - wide;
  return (narrow + 2) / 3 + (wide + 1) / 2;
}

} // namespace kernevo::llm
