#include "kernevo/toolchain/compiler_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace kernevo {

namespace {

constexpr std::size_t kMaxDiagnostics = 50;
constexpr std::size_t kMaxMessage = 500;

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

struct Head {
  std::string_view file;
  int line = 0;
  int column = 0;
  Diagnostic::Severity severity = Diagnostic::Severity::error;
  std::string_view message;
};

struct Severity {
  std::string_view word;
  Diagnostic::Severity severity;
};

constexpr std::array kSeverities = {
    Severity{"catastrophic error", Diagnostic::Severity::error},
    Severity{"internal error", Diagnostic::Severity::error},
    Severity{"fatal error", Diagnostic::Severity::error},
    Severity{"error", Diagnostic::Severity::error},
    Severity{"warning", Diagnostic::Severity::warning},
    Severity{"remark", Diagnostic::Severity::note},
    Severity{"note", Diagnostic::Severity::note},
};

std::optional<int> read_number(std::string_view text) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

// "error: message", "warning #177-D: message".
bool read_severity(std::string_view text, Head& head) {
  for (const Severity& known : kSeverities) {
    if (!text.starts_with(known.word))
      continue;
    std::string_view rest = text.substr(known.word.size());
    if (rest.starts_with(" #"))
      rest.remove_prefix(std::min(rest.find(':'), rest.size()));
    if (!rest.starts_with(':'))
      continue;
    rest.remove_prefix(1);
    while (rest.starts_with(' '))
      rest.remove_prefix(1);
    head.severity = known.severity;
    head.message = rest;
    return true;
  }
  return false;
}

// "file(12): error: message" (the device compiler) or "file:12:3: error: message" (a host
// compiler).
std::optional<Head> read_head(std::string_view line) {
  Head head;
  for (std::size_t at = line.find("): "); at != std::string_view::npos;
       at = line.find("): ", at + 1)) {
    const std::size_t open = line.rfind('(', at);
    if (open == std::string_view::npos)
      continue;
    const auto number = read_number(line.substr(open + 1, at - open - 1));
    if (number && read_severity(line.substr(at + 3), head)) {
      head.file = line.substr(0, open);
      head.line = *number;
      return head;
    }
  }
  for (const Severity& known : kSeverities) {
    const std::size_t at = line.find(fmt::format(": {}:", known.word));
    if (at == std::string_view::npos || !read_severity(line.substr(at + 2), head))
      continue;
    std::string_view place = line.substr(0, at);
    const std::size_t second = place.rfind(':');
    if (second == std::string_view::npos)
      continue;
    const std::size_t first = place.rfind(':', second - 1);
    const auto column = read_number(place.substr(second + 1));
    const auto number = first == std::string_view::npos
                            ? std::nullopt
                            : read_number(place.substr(first + 1, second - first - 1));
    if (!column || !number)
      continue;
    head.file = place.substr(0, first);
    head.line = *number;
    head.column = *column;
    return head;
  }
  return std::nullopt;
}

// The echoed source is indented by two; a caret under it marks the column.
int caret_column(const std::vector<std::string_view>& lines, std::size_t head) {
  for (std::size_t i = head + 1; i < lines.size() && i <= head + 3; ++i) {
    const std::size_t first = lines[i].find_first_not_of(" \t");
    if (first != std::string_view::npos && lines[i].substr(first) == "^")
      return first >= 2 ? static_cast<int>(first) - 1 : 0;
  }
  return 0;
}

bool is_syntax_message(std::string_view message) {
  static constexpr std::array<std::string_view, 18> syntax_starts = {
      "expected a",
      "expected either",
      "expected \"",
      "unrecognized token",
      "missing closing quote",
      "this declaration has no storage class",
      "comment unclosed",
      "unclosed string",
      "the #if for this directive is missing",
      "the #endif for this directive is missing",
      "unrecognized preprocessing directive",
      "extra text after expected end",
      "too many characters in character constant",
      "invalid character",
      "a declaration cannot have a label",
      "unexpected end of file",
      "quoted string",
      "an asm string"};
  static constexpr std::string_view unmatched = "was never closed";
  return std::any_of(syntax_starts.begin(), syntax_starts.end(),
                     [&](std::string_view start) { return message.starts_with(start); }) ||
         message.find(unmatched) != std::string_view::npos;
}

// Why a file cannot be opened would tell whether it is there.
std::string_view without_reason(std::string_view message) {
  static constexpr std::string_view mark = "cannot open source file \"";
  for (const std::string_view reason : {": Permission denied", ": No such file or directory"})
    if (message.ends_with(reason)) // so says a host compiler
      return message.substr(0, message.size() - reason.size());
  if (!message.starts_with(mark))
    return message;
  const std::size_t close = message.rfind('"');
  return message.substr(0, close + 1);
}

} // namespace

CompilerLog read_compiler_log(std::string_view log, const CompileRequest& request,
                              const Toolchain& toolchain) {
  CompilerLog result;
  const std::string headers = toolchain.include.string() + "/";
  const std::vector<std::string_view> lines = split_lines(log);
  bool any_error = false;
  for (std::size_t i = 0; i < lines.size() && result.diagnostics.size() < kMaxDiagnostics; ++i) {
    const auto head = read_head(lines[i]);
    if (!head)
      continue;
    Diagnostic diagnostic;
    diagnostic.severity = head->severity;
    diagnostic.message = std::string(without_reason(head->message).substr(0, kMaxMessage));
    const bool own = head->file == request.file;
    if (own) {
      diagnostic.place =
          Place{request.file, head->line, head->column > 0 ? head->column : caret_column(lines, i)};
    } else {
      // A toolkit header misused by the source, or something said about no file of the user's.
      if (diagnostic.severity != Diagnostic::Severity::error)
        continue;
      diagnostic.place = Place{request.file, 0, 0};
      if (head->file.starts_with(headers))
        diagnostic.message =
            fmt::format("in <{}>: {}", head->file.substr(headers.size()), diagnostic.message);
      else
        diagnostic.message = "the source does not compile as used";
    }
    if (diagnostic.severity == Diagnostic::Severity::error && !any_error) {
      any_error = true;
      result.syntax_error = own && is_syntax_message(diagnostic.message);
    }
    result.diagnostics.push_back(std::move(diagnostic));
  }
  return result;
}

} // namespace kernevo
