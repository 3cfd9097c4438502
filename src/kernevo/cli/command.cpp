#include "kernevo/cli/command.h"

#include "kernevo/base/printable.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/model/json.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace kernevo::cli {

void add_common(CommandLine& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "Answer as one JSON object");
  app.add_flag("-q,--quiet", options.quiet, "Say only the answer");
}

int report_error(const Error& error, const CommonOptions& options) {
  if (options.json) {
    Error shown = error;
    shown.message = printable(shown.message);
    fmt::print("{}\n", to_json(shown));
  }
  fmt::print(stderr, "kernevo: {}\n", format_error(error));
  return exit_code(error.code);
}

std::string paint(std::string_view text, Tone tone) {
  static const bool colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  if (!colour || tone == Tone::plain)
    return std::string(text);
  const char* code = tone == Tone::good      ? "32"
                     : tone == Tone::bad     ? "31"
                     : tone == Tone::warning ? "33"
                                             : "1";
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size())
        widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

} // namespace kernevo::cli
