#include "kernevo/kernel/launch_syntax.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace kernevo {

namespace {

using Range = DirectiveText::Range;

constexpr std::size_t kMaxArguments = 256;
constexpr std::string_view kShape = "write it as '@launch name<<<grid, block>>>(arguments)'";

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

// A grid or block: dim3(x, y, z) or one expression.
Result<std::vector<Expression>> parse_sizes(const DirectiveText& text, Range range,
                                            std::string_view what) {
  range = text.trimmed(range);
  std::vector<Range> parts = {range};
  const std::string_view view = text.view(range);
  if (view.starts_with("dim3")) {
    const Range inside = text.trimmed({range.begin + 4, range.end});
    if (inside.begin < inside.end && text.text()[inside.begin] == '(' &&
        text.closing(inside.begin, inside.end) == inside.end - 1)
      parts = text.split_commas({inside.begin + 1, inside.end - 1});
  } else if (view.starts_with('(') && text.closing(range.begin, range.end) == range.end - 1) {
    parts = text.split_commas({range.begin + 1, range.end - 1}); // (x, y) as Triton writes a grid
    if (parts.size() > 1 && parts.back().begin == parts.back().end)
      parts.pop_back();
  }
  if (parts.empty() || parts.size() > 3)
    return text.error(range.begin,
                      fmt::format("{} has {} sizes, from 1 to 3 are possible", what, parts.size()));
  std::vector<Expression> sizes;
  for (const Range& part : parts) {
    if (part.begin == part.end)
      return text.error(part.begin, fmt::format("a size of the {} is missing", what));
    KERNEVO_TRY(size, text.expression(part));
    sizes.push_back(std::move(size));
  }
  return sizes;
}

Result<Expression> make_expression(std::string_view text, const Place& place) {
  return Expression::parse(text, place);
}

Result<void> parse_configuration(const DirectiveText& text, Range range, KernelLanguage language,
                                 LaunchDirective& launch) {
  const std::vector<Range> parts = text.split_commas(range);
  const std::size_t least = language == KernelLanguage::triton ? 1 : 2;
  if (parts.size() < least || parts.size() > 3)
    return text.error(range.begin,
                      fmt::format("<<<>>> holds {} values; it needs grid and block, and may name "
                                  "the dynamic shared memory in bytes",
                                  parts.size()));
  KERNEVO_TRY(grid, parse_sizes(text, parts[0], "grid"));
  launch.grid = std::move(grid);
  if (parts.size() > 1) {
    KERNEVO_TRY(block, parse_sizes(text, parts[1], "block"));
    launch.block = std::move(block);
  } else {
    // Triton's own default of four warps.
    KERNEVO_TRY(block, make_expression("128", launch.place));
    launch.block = {std::move(block)};
  }
  if (parts.size() > 2) {
    KERNEVO_TRY(shared, text.expression(parts[2]));
    launch.shared = std::move(shared);
  } else {
    KERNEVO_TRY(none, make_expression("0", launch.place));
    launch.shared = std::move(none);
  }
  return {};
}

Result<void> parse_arguments(const DirectiveText& text, Range range, LaunchDirective& launch) {
  const std::vector<Range> parts = text.split_commas(range);
  if (parts.size() > kMaxArguments)
    return text.error(range.begin, fmt::format("{} arguments are too many, {} are possible",
                                               parts.size(), kMaxArguments));
  for (const Range& part : parts) {
    const std::string argument(text.view(part));
    if (argument.empty())
      return text.error(part.begin, "an argument is missing between the commas");
    if (!is_identifier(argument) && !parse_float_literal(argument)) {
      auto parsed = text.expression(part);
      if (!parsed) {
        parsed.error().fix = "an argument is a name, an integer expression or a number";
        return tl::unexpected<Error>(std::move(parsed).error());
      }
    }
    launch.arguments.push_back(argument);
    launch.argument_places.push_back(text.place(part.begin));
  }
  return {};
}

// "<BM, 32>" after the name. `begin` is at '<'; returns the offset after '>'.
Result<std::size_t> parse_template_arguments(const DirectiveText& text, std::size_t begin,
                                             std::size_t end, LaunchDirective& launch) {
  int angles = 0;
  int brackets = 0;
  std::size_t close = std::string::npos;
  for (std::size_t i = begin; i < end && close == std::string::npos; ++i) {
    const char c = text.text()[i];
    if (c == '(')
      ++brackets;
    else if (c == ')')
      --brackets;
    else if (c == '<' && brackets == 0)
      ++angles;
    else if (c == '>' && brackets == 0 && --angles == 0)
      close = i;
  }
  if (close == std::string::npos)
    return text.error(begin, "the template arguments have no closing '>'");
  const std::vector<Range> parts = text.split_commas({begin + 1, close});
  if (parts.empty())
    return text.error(begin, "the template arguments are empty");
  for (const Range& part : parts) {
    if (part.begin == part.end)
      return text.error(part.begin, "a template argument is missing between the commas");
    // It becomes part of a C++ expression handed to the compiler, so only harmless characters.
    const std::string_view argument = text.view(part);
    if (argument.find_first_of(";{}\"'\\#`@$") != std::string_view::npos)
      return text.error(part.begin, fmt::format("'{}' is not a template argument", argument));
    launch.template_arguments.emplace_back(argument);
    launch.template_places.push_back(text.place(part.begin));
  }
  return close + 1;
}

bool is_qualified_name(std::string_view name) {
  while (true) {
    const std::size_t colons = name.find("::");
    if (!is_identifier(name.substr(0, colons)))
      return false;
    if (colons == std::string_view::npos)
      return true;
    name.remove_prefix(colons + 2);
  }
}

} // namespace

Result<LaunchDirective> parse_launch(const DirectiveText& text, Range range,
                                     KernelLanguage language) {
  range = text.trimmed(range);
  if (range.begin < range.end && text.text()[range.end - 1] == ';')
    range = text.trimmed({range.begin, range.end - 1});
  LaunchDirective launch;
  launch.place = text.place(range.begin);
  const std::vector<Range> words = text.words(range);
  std::size_t at = range.begin;
  if (words.size() > 1 && text.view(words[0]) == "cooperative" &&
      is_name_character(text.text()[words[1].begin])) {
    launch.cooperative = true;
    at = words[1].begin;
  }
  const std::size_t name_begin = at;
  while (at < range.end && is_name_character(text.text()[at]))
    ++at;
  launch.kernel = std::string(text.view({name_begin, at}));
  if (launch.kernel.empty())
    return text.error(name_begin, "the kernel's name is missing", std::string(kShape));
  if (!is_qualified_name(launch.kernel))
    return text.error(name_begin, fmt::format("'{}' is not a kernel's name", launch.kernel));
  auto skip_space = [&] { at = text.trimmed({at, range.end}).begin; };
  auto at_mark = [&](std::string_view mark) {
    return text.view({at, range.end}).starts_with(mark);
  };
  skip_space();
  if (at_mark("<") && !at_mark("<<<")) {
    KERNEVO_TRY(after, parse_template_arguments(text, at, range.end, launch));
    at = after;
    skip_space();
  }
  if (!at_mark("<<<"))
    return text.error(at, fmt::format("expected '<<<' after '{}'", launch.kernel),
                      std::string(kShape));
  const std::size_t configuration = at + 3;
  int depth = 0;
  std::size_t close = std::string::npos;
  for (std::size_t i = configuration; i < range.end; ++i) {
    const char c = text.text()[i];
    if (c == '(')
      ++depth;
    else if (c == ')')
      --depth;
    else if (depth == 0 && text.view({i, range.end}).starts_with(">>>")) {
      close = i;
      break;
    }
  }
  if (close == std::string::npos)
    return text.error(at, "'<<<' is never closed by '>>>'", std::string(kShape));
  KERNEVO_CHECK(parse_configuration(text, {configuration, close}, language, launch));
  at = close + 3;
  skip_space();
  if (!at_mark("("))
    return text.error(at, "expected '(' and the arguments after '>>>'", std::string(kShape));
  const std::size_t end = text.closing(at, range.end);
  if (end == std::string::npos)
    return text.error(at, "the argument list is never closed by ')'");
  KERNEVO_CHECK(parse_arguments(text, {at + 1, end}, launch));
  const Range rest = text.trimmed({end + 1, range.end});
  if (rest.begin < rest.end)
    return text.error(rest.begin, fmt::format("unexpected '{}' after the launch", text.view(rest)));
  return launch;
}

std::optional<double> parse_float_literal(std::string_view text) {
  double sign = 1;
  if (text.starts_with('-') || text.starts_with('+')) {
    sign = text[0] == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  if (text.ends_with('f') || text.ends_with('F'))
    text.remove_suffix(1);
  if (text.empty() || !((text[0] >= '0' && text[0] <= '9') || text[0] == '.') ||
      text.find_first_of(".eE") == std::string_view::npos || text.find_first_of("xX") != text.npos)
    return std::nullopt;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return sign * value;
}

} // namespace kernevo
