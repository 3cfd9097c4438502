#include "kernevo/model/source_lines.h"

#include "kernevo/base/one_line.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kernevo {
namespace {

constexpr std::size_t kLineShown = 160; // characters

bool is_kernel(const std::string& file) {
  static constexpr std::array<std::string_view, 7> others = {".h",    ".hpp", ".cuh", ".inl",
                                                             ".yaml", ".yml", ".json"};
  return std::none_of(others.begin(), others.end(),
                      [&](std::string_view end) { return file.ends_with(end); });
}

} // namespace

std::string quote_line(std::string_view source, const std::string& file, int line) {
  if (line < 1 || !is_kernel(file))
    return "";
  for (int i = 1; i < line; ++i) {
    const std::size_t end = source.find('\n');
    if (end == std::string_view::npos)
      return "";
    source.remove_prefix(end + 1);
  }
  const std::string text = one_line(source.substr(0, source.find('\n')), kLineShown);
  return text.empty() ? "" : fmt::format("  {} | {}", line, text);
}

std::string line_prefix(const std::string& file, int line) {
  if (line < 1)
    return "";
  if (is_kernel(file))
    return fmt::format("line {}: ", line);
  return fmt::format("{}:{}: ", file.substr(file.rfind('/') + 1), line);
}

} // namespace kernevo
