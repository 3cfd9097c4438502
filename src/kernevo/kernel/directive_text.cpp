#include "kernevo/kernel/directive_text.h"

#include <utility>

namespace kernevo {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

} // namespace

DirectiveText::DirectiveText(std::string file, std::string_view text, int line, int column)
    : file_(std::move(file)), text_(text), segments_{{0, line, column}} {}

DirectiveText::DirectiveText(std::string_view text, const Place& place)
    : DirectiveText(place.file, text, place.line, place.column > 0 ? place.column : 1) {}

void DirectiveText::append(std::string_view text, int line, int column) {
  text_ += ' ';
  segments_.push_back({text_.size(), line, column});
  text_ += text;
}

Place DirectiveText::place(std::size_t offset) const {
  const Segment* found = &segments_.front();
  for (const Segment& segment : segments_)
    if (segment.offset <= offset)
      found = &segment;
  return Place{file_, found->line, found->column + static_cast<int>(offset - found->offset)};
}

tl::unexpected<Error> DirectiveText::error(std::size_t offset, std::string message,
                                           std::string fix) const {
  return fail(ErrorCode::input, std::move(message), place(offset), std::move(fix));
}

DirectiveText::Range DirectiveText::trimmed(Range range) const {
  while (range.begin < range.end && is_space(text_[range.begin]))
    ++range.begin;
  while (range.end > range.begin && is_space(text_[range.end - 1]))
    --range.end;
  return range;
}

std::vector<DirectiveText::Range> DirectiveText::words(Range range, bool commas) const {
  std::vector<Range> result;
  auto separates = [&](char c) { return is_space(c) || (commas && c == ','); };
  for (std::size_t i = range.begin; i < range.end;) {
    if (separates(text_[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < range.end && !separates(text_[i]))
      ++i;
    result.push_back({begin, i});
  }
  return result;
}

std::vector<DirectiveText::Range> DirectiveText::split_commas(Range range) const {
  std::vector<Range> result;
  const Range whole = trimmed(range);
  if (whole.begin == whole.end)
    return result;
  int depth = 0;
  std::size_t begin = whole.begin;
  for (std::size_t i = whole.begin; i < whole.end; ++i) {
    const char c = text_[i];
    if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if (c == ')' || c == ']' || c == '}')
      --depth;
    else if (c == ',' && depth == 0) {
      result.push_back(trimmed({begin, i}));
      begin = i + 1;
    }
  }
  result.push_back(trimmed({begin, whole.end}));
  return result;
}

std::size_t DirectiveText::closing(std::size_t open, std::size_t end) const {
  int depth = 0;
  for (std::size_t i = open; i < end; ++i) {
    const char c = text_[i];
    if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if ((c == ')' || c == ']' || c == '}') && --depth == 0)
      return i;
  }
  return std::string::npos;
}

Result<Expression> DirectiveText::expression(Range range) const {
  range = trimmed(range);
  const Place start = place(range.begin);
  auto parsed = Expression::parse(view(range), start);
  if (!parsed && parsed.error().place) {
    // The parser counts columns on one line; ours may be several.
    const auto offset = static_cast<std::size_t>(parsed.error().place->column - start.column);
    parsed.error().place = place(range.begin + offset);
  }
  return parsed;
}

} // namespace kernevo
