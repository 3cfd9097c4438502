#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>

namespace kernevo::rewrite {
namespace {

struct Loop {
  std::size_t token = 0; // "for"
  std::size_t head_end = 0;
  std::size_t end = 0; // token after its body
};

bool is_loop_word(const Token& token) {
  return token.is("for") || token.is("while") || token.is("do");
}

// The token after the statement at `at`; nothing when it cannot be told.
std::optional<std::size_t> statement_end(const Code& code, std::size_t at, std::size_t last,
                                         int depth = 0) {
  const auto& tokens = code.tokens();
  if (at >= last || depth > 50)
    return std::nullopt;
  if (tokens[at].is("{")) {
    const auto close = code.closing(at);
    return close ? std::optional<std::size_t>(*close + 1) : std::nullopt;
  }
  if (tokens[at].is("for") || tokens[at].is("while") || tokens[at].is("if")) {
    if (at + 1 >= last || !tokens[at + 1].is("("))
      return std::nullopt;
    const auto close = code.closing(at + 1);
    auto end = close ? statement_end(code, *close + 1, last, depth + 1) : std::nullopt;
    if (end && tokens[at].is("if") && *end < last && tokens[*end].is("else"))
      end = statement_end(code, *end + 1, last, depth + 1);
    return end;
  }
  for (std::size_t i = at; i < last; ++i) {
    if (tokens[i].is(";"))
      return i + 1;
    if (const auto close = code.closing(i))
      i = *close;
  }
  return std::nullopt;
}

// The number of a "#pragma unroll N" on the line before; the place of the number.
struct Pragma {
  bool present = false;
  std::size_t number_begin = 0; // 0: none
  std::size_t number_end = 0;
};

Pragma pragma_before(const Code& code, std::size_t offset) {
  const std::string_view source = code.source();
  Pragma pragma;
  const std::size_t line = code.line_start(offset);
  if (source.substr(line, offset - line).find_first_not_of(" \t") != std::string_view::npos ||
      line == 0)
    return pragma; // something stands before it on its line
  const std::size_t before = code.line_start(line - 1);
  const std::string_view text = source.substr(before, line - 1 - before);
  if (text.find('#') != text.find_first_not_of(" \t") ||
      text.find("pragma") == std::string_view::npos)
    return pragma;
  pragma.present = true;
  const std::size_t unroll = text.find("unroll");
  if (unroll == std::string_view::npos)
    return pragma;
  const std::size_t digit = text.find_first_of("0123456789", unroll);
  const std::size_t other = text.find_first_not_of(" \t\r0123456789", unroll + 6);
  if (digit == std::string_view::npos || other != std::string_view::npos)
    return pragma;
  pragma.number_begin = before + digit;
  pragma.number_end = before + std::min(text.find_first_not_of("0123456789", digit), text.size());
  return pragma;
}

} // namespace

Outcome unroll(Draft& draft) {
  const Code& code = draft.code();
  const auto& tokens = code.tokens();
  std::vector<Loop> loops;
  for (const Function& kernel : code.kernels())
    for (std::size_t i = kernel.body_open; i < kernel.body_close; ++i) {
      if (!tokens[i].is("for") || !tokens[i + 1].is("("))
        continue;
      const auto head = code.closing(i + 1);
      const auto end = head ? statement_end(code, *head + 1, kernel.body_close) : std::nullopt;
      if (!end)
        continue;
      const bool innermost =
          std::none_of(tokens.begin() + static_cast<std::ptrdiff_t>(*head),
                       tokens.begin() + static_cast<std::ptrdiff_t>(*end), is_loop_word);
      if (innermost)
        loops.push_back({i, *head, *end});
    }
  if (loops.empty())
    return refuse("there is no loop");
  std::vector<std::pair<const Loop*, Pragma>> chosen;
  for (const Loop& loop : loops) {
    const Pragma pragma = pragma_before(code, tokens[loop.token].begin);
    if (!pragma.present || pragma.number_begin != 0)
      chosen.emplace_back(&loop, pragma);
  }
  if (chosen.empty())
    return refuse("its innermost loops are unrolled already");
  const std::string name = draft.fresh("UNROLL");
  draft.add_directive(fmt::format("@tune {} 4 1 2 8 16", name));
  for (const auto& [loop, pragma] : chosen) {
    if (pragma.present) {
      draft.edits().replace(pragma.number_begin, pragma.number_end, name);
      continue;
    }
    const std::size_t at = tokens[loop->token].begin;
    const std::size_t line = code.line_start(at);
    const bool alone =
        draft.source().substr(line, at - line).find_first_not_of(" \t") == std::string_view::npos;
    if (alone)
      draft.edits().insert(line, fmt::format("#pragma unroll {}\n", name));
    else
      draft.edits().insert(at,
                           fmt::format("\n#pragma unroll {}\n{}  ", name, code.indentation(at)));
  }
  return fmt::format("{} innermost loop{} unrolled {} times", chosen.size(),
                     chosen.size() == 1 ? " is" : "s are", name);
}

} // namespace kernevo::rewrite
