#include "kernevo/kernel/kernel_file.h"

#include "kernevo/base/files.h"
#include "kernevo/base/printable.h"
#include "kernevo/base/suggest.h"
#include "kernevo/kernel/compiler_flags.h"
#include "kernevo/kernel/directive_text.h"
#include "kernevo/kernel/find_kernels.h"
#include "kernevo/kernel/launch_syntax.h"
#include "kernevo/kernel/plain_text.h"
#include "kernevo/kernel/portable_source.h"
#include "kernevo/kernel/reserved_names.h"
#include "kernevo/kernel/source_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace kernevo {

namespace {

using Range = DirectiveText::Range;

constexpr std::size_t kMaxParameters = 64;
constexpr std::size_t kMaxValues = 1024;

constexpr std::array<std::string_view, 7> kDirectives = {"tune",  "where",   "scratch", "launch",
                                                         "flags", "maxregs", "arch"};

// Words documentation comments begin with; they are not directives.
bool is_documentation(std::string_view word) {
  static constexpr std::array<std::string_view, 34> documentation_words = {
      "a",       "author",    "authors", "brief",   "bug",      "c",          "class",
      "code",    "copyright", "date",    "def",     "defgroup", "deprecated", "details",
      "endcode", "file",      "fn",      "ingroup", "license",  "namespace",  "note",
      "p",       "par",       "param",   "post",    "pre",      "ref",        "return",
      "returns", "see",       "todo",    "tparam",  "version",  "warning"};
  return std::find(documentation_words.begin(), documentation_words.end(), word) !=
         documentation_words.end();
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  if (text.starts_with('+'))
    text.remove_prefix(1);
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

// C's own names for what a buffer holds, beside the dtypes of tasks.
std::optional<DType> parse_buffer_type(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, DType>, 12> c_names = {{
      {"__half", DType::float16},
      {"nv_bfloat16", DType::bfloat16},
      {"__nv_bfloat16", DType::bfloat16},
      {"unsigned", DType::int32},
      {"uint32_t", DType::int32},
      {"int32_t", DType::int32},
      {"char", DType::int8},
      {"int8_t", DType::int8},
      {"uint8_t", DType::int8},
      {"int64_t", DType::int64},
      {"uint64_t", DType::int64},
      {"size_t", DType::int64},
  }};
  if (const auto dtype = parse_dtype(name))
    return dtype;
  for (const auto& [known, dtype] : c_names)
    if (known == name)
      return dtype;
  return std::nullopt;
}

class DirectiveReader {
public:
  explicit DirectiveReader(KernelFile& file) : file_(file) {}

  Result<void> read(std::string_view word, const DirectiveText& text, Range body) {
    body = text.trimmed(body);
    if (body.begin == body.end)
      return text.error(0, fmt::format("@{} has nothing after it", word),
                        std::string(example(word)));
    if (word == "tune")
      return tune(text, body);
    if (word == "where")
      return where(text, body);
    if (word == "scratch")
      return scratch(text, body);
    if (word == "launch")
      return launch(text, body);
    if (word == "flags")
      return flags(text, body);
    if (word == "maxregs")
      return max_registers(text, body);
    return architecture(text, body);
  }

private:
  static std::string_view example(std::string_view word) {
    if (word == "tune")
      return "write it as '@tune NAME 32 64 128'";
    if (word == "where")
      return "write it as '@where BM * BN <= 8192'";
    if (word == "scratch")
      return "write it as '@scratch name float [M * N]'";
    if (word == "launch")
      return "write it as '@launch name<<<grid, block>>>(arguments)'";
    if (word == "flags")
      return "write it as '@flags --use_fast_math'";
    if (word == "maxregs")
      return "write it as '@maxregs 128'";
    return "write it as '@arch sm_90a'";
  }

  Result<void> check_name(const DirectiveText& text, Range range) const {
    const std::string name(text.view(range));
    if (!is_identifier(name))
      return text.error(range.begin, fmt::format("'{}' is not a name", name));
    if (is_reserved_name(name))
      return text.error(range.begin, fmt::format("'{}' is a reserved word", name),
                        "choose another name");
    for (const TuneParameter& parameter : file_.parameters)
      if (parameter.name == name)
        return text.error(range.begin, fmt::format("'{}' is already a @tune parameter (line {})",
                                                   name, parameter.place.line));
    for (const ScratchDirective& buffer : file_.scratch)
      if (buffer.name == name)
        return text.error(range.begin, fmt::format("'{}' is already a @scratch buffer (line {})",
                                                   name, buffer.place.line));
    return {};
  }

  Result<void> tune(const DirectiveText& text, Range body) {
    const std::vector<Range> words = text.words(body, true);
    if (words.empty()) // nothing but commas
      return text.error(body.begin, "@tune has no name", std::string(example("tune")));
    KERNEVO_CHECK(check_name(text, words[0]));
    if (file_.parameters.size() >= kMaxParameters)
      return text.error(words[0].begin,
                        fmt::format("more than {} @tune parameters", kMaxParameters));
    TuneParameter parameter;
    parameter.name = std::string(text.view(words[0]));
    parameter.place = text.place(words[0].begin);
    for (std::size_t i = 1; i < words.size(); ++i)
      KERNEVO_CHECK(tune_values(text, words[i], parameter));
    if (parameter.values.empty())
      return text.error(words[0].begin, fmt::format("@tune {} lists no values", parameter.name),
                        std::string(example("tune")));
    file_.parameters.push_back(std::move(parameter));
    return {};
  }

  // "64", "1..8" or "32..256..32".
  static Result<void> tune_values(const DirectiveText& text, Range word, TuneParameter& parameter) {
    const std::string_view view = text.view(word);
    std::vector<std::int64_t> ends;
    std::size_t begin = 0;
    for (bool more = true; more;) {
      const std::size_t dots = view.find("..", begin);
      more = dots != std::string_view::npos;
      const auto value = parse_integer(view.substr(begin, more ? dots - begin : view.npos));
      if (!value)
        return text.error(word.begin, fmt::format("'{}' is not an integer", view),
                          "values are integers or ranges such as 1..8 or 32..256..32");
      ends.push_back(*value);
      begin = dots + 2;
    }
    const std::int64_t step = ends.size() == 3 ? ends[2] : 1;
    if (ends.size() > 3 || step < 1 || ends.back() < std::numeric_limits<std::int64_t>::min() / 2 ||
        (ends.size() > 1 && ends[1] < ends[0]))
      return text.error(word.begin, fmt::format("'{}' is not a range", view),
                        "a range is first..last or first..last..step, going up");
    const std::int64_t last = ends.size() > 1 ? ends[1] : ends[0];
    for (std::int64_t value = ends[0];;) {
      if (parameter.values.size() >= kMaxValues)
        return text.error(word.begin, fmt::format("@tune {} lists more than {} values",
                                                  parameter.name, kMaxValues));
      if (std::find(parameter.values.begin(), parameter.values.end(), value) !=
          parameter.values.end())
        return text.error(word.begin,
                          fmt::format("@tune {} lists {} twice", parameter.name, value));
      parameter.values.push_back(value);
      if (__builtin_add_overflow(value, step, &value) || value > last)
        return {};
    }
  }

  Result<void> where(const DirectiveText& text, Range body) {
    KERNEVO_TRY(condition, text.expression(body));
    file_.constraints.push_back({std::move(condition), text.place(body.begin)});
    return {};
  }

  Result<void> scratch(const DirectiveText& text, Range body) {
    const std::size_t open = text.text().find('[', body.begin);
    const std::vector<Range> words = text.words({body.begin, std::min(open, body.end)});
    if (open >= body.end || words.size() != 2)
      return text.error(body.begin, "@scratch wants a name, a type and a size in brackets",
                        std::string(example("scratch")));
    KERNEVO_CHECK(check_name(text, words[0]));
    ScratchDirective buffer;
    buffer.name = std::string(text.view(words[0]));
    buffer.place = text.place(words[0].begin);
    const auto dtype = parse_buffer_type(text.view(words[1]));
    if (!dtype)
      return text.error(words[1].begin, fmt::format("unknown type '{}'", text.view(words[1])),
                        "types are float32, float16, bfloat16, float64, int32, int8, int64");
    buffer.dtype = *dtype;
    // [M, N] and [M][N] mean the same.
    for (std::size_t at = open; at < body.end; at = text.trimmed({at, body.end}).begin) {
      if (text.text()[at] != '[')
        return text.error(at, fmt::format("unexpected '{}' after the size", text.text()[at]));
      const std::size_t close = text.closing(at, body.end);
      if (close == std::string::npos)
        return text.error(at, "'[' is never closed by ']'");
      const std::vector<Range> parts = text.split_commas({at + 1, close});
      if (parts.empty())
        return text.error(at, "the size is empty");
      for (const Range& part : parts) {
        KERNEVO_TRY(size, text.expression(part));
        buffer.shape.push_back(std::move(size));
      }
      at = close + 1;
    }
    file_.scratch.push_back(std::move(buffer));
    return {};
  }

  Result<void> launch(const DirectiveText& text, Range body) {
    KERNEVO_TRY(parsed, parse_launch(text, body, file_.language));
    file_.launches.push_back(std::move(parsed));
    return {};
  }

  Result<void> flags(const DirectiveText& text, Range body) {
    for (const Range& word : text.words(body)) {
      KERNEVO_TRY(flag, canonical_flag(text.view(word), text.place(word.begin)));
      static constexpr std::string_view register_flag = "--maxrregcount=";
      if (flag.starts_with(register_flag)) {
        KERNEVO_CHECK(set_registers(text, word.begin, flag.substr(register_flag.size())));
      } else if (flag != "--lineinfo" && // always on
                 std::find(file_.flags.begin(), file_.flags.end(), flag) == file_.flags.end()) {
        file_.flags.push_back(std::move(flag));
      }
    }
    return {};
  }

  Result<void> set_registers(const DirectiveText& text, std::size_t offset,
                             std::string_view value) {
    const auto count = parse_integer(value);
    if (!count || *count < 16 || *count > 255)
      return text.error(offset, fmt::format("'{}' is not a register count from 16 to 255", value));
    if (file_.max_registers && *file_.max_registers != *count)
      return text.error(
          offset, fmt::format("the register count was already set to {}", *file_.max_registers));
    file_.max_registers = static_cast<int>(*count);
    return {};
  }

  Result<void> max_registers(const DirectiveText& text, Range body) {
    return set_registers(text, body.begin, text.view(body));
  }

  Result<void> architecture(const DirectiveText& text, Range body) {
    const std::string_view view = text.view(body);
    std::string_view digits = view.starts_with("sm_") ? view.substr(3) : std::string_view();
    if (digits.ends_with('a') || digits.ends_with('f'))
      digits.remove_suffix(1);
    const bool number =
        digits.size() >= 2 && digits.size() <= 3 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!number)
      return text.error(body.begin, fmt::format("'{}' is not an architecture", view),
                        "write it as sm_80 or sm_90a");
    if (file_.architecture && *file_.architecture != view)
      return text.error(body.begin,
                        fmt::format("the architecture was already set to {}", *file_.architecture));
    file_.architecture = std::string(view);
    return {};
  }

  KernelFile& file_;
};

// Where the text of a comment begins, after what documentation comments add: "///", "//!", " * ".
std::size_t skip_marks(const CommentLine& comment, bool python) {
  std::size_t at = 0;
  const std::string_view marks = comment.block ? "*!" : (python ? "#" : "/!<");
  while (at < comment.text.size() && marks.find(comment.text[at]) != std::string_view::npos)
    ++at;
  at = std::min(comment.text.find_first_not_of(" \t", at), comment.text.size());
  if (comment.block && at < comment.text.size() && comment.text[at] == '*')
    at = std::min(comment.text.find_first_not_of(" \t", at + 1), comment.text.size());
  return at;
}

// What a continuation line adds: its text, without the "//" it may repeat.
void append_line(DirectiveText& text, const CommentLine& comment) {
  std::string_view view = comment.text;
  std::size_t at = std::min(view.find_first_not_of(" \t"), view.size());
  if (comment.continuation && (view.substr(at).starts_with("//")))
    at = std::min(view.find_first_not_of(" \t", at + 2), view.size());
  text.append(view.substr(at), comment.line, comment.column + static_cast<int>(at));
}

bool is_open(const std::string& text) {
  static constexpr std::size_t longest_launch =
      16384; // no launch is; what follows is not part of it
  if (text.size() > longest_launch)
    return false;
  int depth = 0;
  for (const char c : text)
    depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
  // A launch is not over before its argument list; it may break before that too.
  return depth > 0 || text.find(">>>") == std::string::npos;
}

Result<void> read_directives(const SourceScan& scan, KernelFile& file) {
  DirectiveReader reader(file);
  const bool python = file.language == KernelLanguage::triton;
  const auto offset = file.first_line - 1;
  const std::vector<CommentLine>& comments = scan.comments;
  for (std::size_t i = 0; i < comments.size(); ++i) {
    if (comments[i].continuation)
      continue;
    const std::size_t at = skip_marks(comments[i], python);
    const std::string_view view = comments[i].text.substr(at);
    if (view.size() < 2 || view[0] != '@')
      continue;
    std::size_t length = 1;
    while (length < view.size() && (is_identifier(view.substr(length, 1)) ||
                                    (length > 1 && view[length] >= '0' && view[length] <= '9')))
      ++length;
    static constexpr std::size_t longest_shown = 40;
    const std::string_view word = view.substr(1, std::min(length - 1, longest_shown));
    if (word.empty() || is_documentation(word))
      continue;
    DirectiveText text(file.path, view, comments[i].line + offset,
                       comments[i].column + static_cast<int>(at));
    const bool known = std::find(kDirectives.begin(), kDirectives.end(), word) != kDirectives.end();
    if (comments[i].block) {
      if (known)
        return text.error(0, fmt::format("@{} inside /* */ is not read", word),
                          "write directives in // comments");
      continue;
    }
    if (!known) {
      const std::vector<std::string> names(kDirectives.begin(), kDirectives.end());
      return text.error(0,
                        fmt::format("unknown directive '@{}'{}", word, did_you_mean(word, names)),
                        fmt::format("directives are @{}", fmt::join(names, ", @")));
    }
    auto shifted = [&](CommentLine comment) {
      comment.line += offset;
      return comment;
    };
    while (i + 1 < comments.size() && comments[i].continued && comments[i + 1].continuation)
      append_line(text, shifted(comments[++i]));
    while (word == "launch" && is_open(text.text()) && i + 1 < comments.size() &&
           comments[i + 1].alone && !comments[i + 1].block &&
           comments[i + 1].line == comments[i].line + 1 &&
           !comments[i + 1].text.substr(skip_marks(comments[i + 1], python)).starts_with('@'))
      append_line(text, shifted(comments[++i]));
    // Directives are quoted in messages and launched by name: they are plain text.
    if (printable(text.text(), Lines::kept) != text.text())
      return text.error(0, fmt::format("@{} holds a character that cannot be shown", word));
    KERNEVO_CHECK(reader.read(word, text, {length, text.text().size()}));
  }
  return {};
}

Result<void> check_launches(const KernelFile& file, const FoundKernels& found) {
  for (const LaunchDirective& launch : file.launches) {
    const std::size_t colons = launch.kernel.rfind("::");
    const std::string name =
        colons == std::string::npos ? launch.kernel : launch.kernel.substr(colons + 2);
    const bool known = std::find(found.names.begin(), found.names.end(), name) != found.names.end();
    if (!known && !found.incomplete)
      return fail(ErrorCode::input,
                  fmt::format("@launch names kernel '{}', which the file does not define{}", name,
                              did_you_mean(name, found.names)),
                  launch.place, fmt::format("its kernels are {}", fmt::join(found.names, ", ")));
    const bool is_template =
        std::find(found.templates.begin(), found.templates.end(), name) != found.templates.end();
    if (is_template && launch.template_arguments.empty())
      return fail(ErrorCode::input,
                  fmt::format("kernel '{}' is a template; name its arguments", name), launch.place,
                  fmt::format("as in '@launch {}<32><<<...>>>(...)'", name));
    if (known && !is_template && !launch.template_arguments.empty())
      return fail(ErrorCode::input, fmt::format("kernel '{}' is not a template", name),
                  launch.place);
  }
  return {};
}

} // namespace

Result<KernelFile> parse_kernel_file(std::string_view text, const std::string& path,
                                     int first_line) {
  KernelFile file;
  file.path = path;
  file.first_line = first_line;
  if (text.size() > kMaxKernelFileSize)
    return fail(
        ErrorCode::input,
        fmt::format("is {} bytes; a kernel file has at most {}", text.size(), kMaxKernelFileSize),
        Place{path});
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return fail(ErrorCode::input, "holds a NUL byte; a kernel file is text",
                Place{path,
                      first_line + static_cast<int>(std::count(
                                       text.begin(), text.begin() + static_cast<long>(nul), '\n')),
                      0});
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);
  file.source = std::string(text);
  file.language = path.ends_with(".py") ? KernelLanguage::triton : KernelLanguage::cuda;
  const bool cuda = file.language == KernelLanguage::cuda;
  const SourceScan scan = cuda ? scan_cuda_source(file.source) : scan_python_source(file.source);
  if (cuda) {
    if (auto unplain = find_unplain_text(file.source, path, first_line))
      return tl::unexpected<Error>(std::move(*unplain));
    if (auto host = find_host_code(scan, path)) {
      host->place->line += first_line - 1;
      return tl::unexpected<Error>(std::move(*host));
    }
    if (auto unportable = find_unportable(scan, path, first_line))
      return tl::unexpected<Error>(std::move(*unportable));
  }
  const FoundKernels found = cuda ? find_cuda_kernels(scan) : find_triton_kernels(scan);
  if (found.names.empty() && !found.incomplete)
    return fail(ErrorCode::input,
                cuda ? "no __global__ function found" : "no @triton.jit function found",
                Place{path, first_line, 0}, "a kernel file defines at least one kernel");
  file.kernels = found.names;
  file.template_kernels = found.templates;
  KERNEVO_CHECK(read_directives(scan, file));
  KERNEVO_CHECK(check_launches(file, found));
  return file;
}

Result<KernelFile> load_kernel_file(const std::string& path) {
  KERNEVO_TRY(text, read_text_file(path));
  return parse_kernel_file(text, path);
}

} // namespace kernevo
