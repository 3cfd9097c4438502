#include "kernevo/search/comparison_sides.h"

#include <string_view>

namespace kernevo::search {

namespace {

bool is_shift(std::string_view text) {
  return text.starts_with("<<") || text.starts_with(">>");
}

// The length of a comparison or logical operator at the start of the text, or 0.
std::size_t separator_length(std::string_view text) {
  for (const std::string_view two : {"&&", "||", "<=", ">=", "==", "!="})
    if (text.starts_with(two))
      return 2;
  return text.starts_with('<') || text.starts_with('>') ? 1 : 0;
}

void add_side(std::string_view text, std::vector<Expression>& sides) {
  // A whole condition in parentheses does not parse once split; it is then no side.
  if (auto side = Expression::parse(text); side && !side->names().empty())
    sides.push_back(std::move(*side));
}

} // namespace

std::vector<Expression> comparison_sides(const Expression& condition) {
  const std::string_view text = condition.text();
  std::vector<Expression> sides;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    depth += text[at] == '(' ? 1 : 0;
    depth -= text[at] == ')' ? 1 : 0;
    if (is_shift(text.substr(at))) {
      at += 2;
      continue;
    }
    const std::size_t length = depth == 0 ? separator_length(text.substr(at)) : 0;
    if (length == 0) {
      ++at;
      continue;
    }
    add_side(text.substr(begin, at - begin), sides);
    at += length;
    begin = at;
  }
  if (begin > 0)
    add_side(text.substr(begin), sides);
  return sides;
}

} // namespace kernevo::search
