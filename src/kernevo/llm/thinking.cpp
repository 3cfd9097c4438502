#include "kernevo/llm/thinking.h"

namespace kernevo::llm {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";

std::string_view trim_left(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// Where the next block begins: at the start of a line, outside fences.
std::size_t find_open(std::string_view text) {
  bool fenced = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::string_view inner = trim_left(line);
    if (inner.starts_with("```"))
      fenced = !fenced;
    else if (!fenced && inner.starts_with(kOpen))
      return begin + (line.size() - inner.size());
    begin = end + 1;
  }
  return std::string_view::npos;
}

} // namespace

Thought split_thinking(std::string_view content) {
  Thought thought;
  const std::size_t close = content.find(kClose);
  if (const std::size_t open = find_open(content);
      close != std::string_view::npos && (open == std::string_view::npos || close < open) &&
      content.substr(0, close).find("```") == std::string_view::npos) {
    thought.reasoning = content.substr(0, close);
    content = trim_left(content.substr(close + kClose.size()));
  }
  while (true) {
    const std::size_t open = find_open(content);
    thought.text += content.substr(0, open);
    if (open == std::string_view::npos)
      return thought;
    content.remove_prefix(open + kOpen.size());
    const std::size_t end = content.find(kClose);
    thought.reasoning += content.substr(0, end);
    if (end == std::string_view::npos)
      return thought;
    content = trim_left(content.substr(end + kClose.size()));
  }
}

} // namespace kernevo::llm
