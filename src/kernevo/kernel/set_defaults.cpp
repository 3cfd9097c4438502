#include "kernevo/kernel/set_defaults.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo {
namespace {

struct Line {
  std::size_t begin = 0;
  std::size_t end = 0; // of the text; before "\n" or "\r\n"
};

std::vector<Line> lines_of(std::string_view source) {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin < source.size();) {
    const std::size_t newline = std::min(source.find('\n', begin), source.size());
    std::size_t end = newline;
    if (end > begin && source[end - 1] == '\r')
      --end;
    lines.push_back({begin, end});
    begin = newline + 1;
  }
  return lines;
}

std::string listed(const TuneParameter& parameter, std::int64_t first) {
  std::string text = fmt::format("{} {}", parameter.name, first);
  for (const std::int64_t value : parameter.values)
    if (value != first)
      text += fmt::format(" {}", value);
  return text;
}

} // namespace

Result<std::string> set_defaults(const KernelFile& file, const ParameterValues& values) {
  KERNEVO_TRY(wanted, choose_parameters(file, values));
  std::string source = file.source;
  const std::vector<Line> lines = lines_of(source);
  // From the end, so that the places before stay as they are.
  for (auto parameter = file.parameters.rbegin(); parameter != file.parameters.rend();
       ++parameter) {
    const std::int64_t first = wanted.at(parameter->name);
    if (parameter->values.front() == first)
      continue;
    const auto at = static_cast<std::size_t>(parameter->place.line - file.first_line);
    std::size_t last = at;
    while (last + 1 < lines.size() && lines[last].end > lines[last].begin &&
           source[lines[last].end - 1] == '\\')
      ++last;
    const std::size_t begin =
        lines[at].begin + static_cast<std::size_t>(parameter->place.column - 1);
    source.replace(begin, lines[last].end - begin, listed(*parameter, first));
  }
  KERNEVO_TRY(written, parse_kernel_file(source, file.path, file.first_line));
  KERNEVO_TRY(defaults, choose_parameters(written));
  if (defaults != wanted)
    return fail(ErrorCode::unsupported, "its @tune lines cannot be rewritten", Place{file.path},
                "write each @tune on one line of its own");
  return source;
}

} // namespace kernevo
