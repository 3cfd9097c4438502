#include "kernevo/rewrite/source_edits.h"

#include <algorithm>
#include <utility>

namespace kernevo::rewrite {
namespace {

// New lines end as the file's own do.
std::string with_line_ends(const std::string& text, bool carriage_returns) {
  if (!carriage_returns)
    return text;
  std::string result;
  for (const char c : text) {
    if (c == '\n')
      result += '\r';
    result += c;
  }
  return result;
}

} // namespace

void SourceEdits::replace(std::size_t begin, std::size_t end, std::string text) {
  edits_.push_back({begin, end, std::move(text)});
}

std::string SourceEdits::apply(std::string_view source) const {
  return apply(source, 0, source.size());
}

std::string SourceEdits::apply(std::string_view source, std::size_t begin, std::size_t end) const {
  std::vector<const Edit*> ordered;
  for (const Edit& edit : edits_)
    if (edit.begin >= begin && edit.end <= end)
      ordered.push_back(&edit);
  // An insertion stands before a replacement that begins where it is.
  std::stable_sort(ordered.begin(), ordered.end(), [](const Edit* a, const Edit* b) {
    return std::pair(a->begin, a->end > a->begin) < std::pair(b->begin, b->end > b->begin);
  });
  const bool carriage_returns = source.find("\r\n") != std::string_view::npos;
  std::string result;
  std::size_t at = begin;
  for (const Edit* edit : ordered) {
    if (edit->begin < at)
      continue;
    result += source.substr(at, edit->begin - at);
    result += with_line_ends(edit->text, carriage_returns);
    at = edit->end;
  }
  result += source.substr(at, end - at);
  return result;
}

} // namespace kernevo::rewrite
