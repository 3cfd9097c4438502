#include "kernevo/model/diagnosis.h"

#include "kernevo/base/one_line.h"

#include "kernevo/base/identifier.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo {
namespace {

constexpr std::size_t kErrorsShown = 8;
constexpr std::size_t kLineShown = 160; // characters of a source line
constexpr std::size_t kMessageShown = 400;
constexpr std::string_view kHiddenShape =
    "on a shape that is not shown; sizes need not be multiples of any tile";

std::string_view in_words(FaultKind kind) {
  switch (kind) {
  case FaultKind::syntax_error: return "the source does not parse";
  case FaultKind::semantic_compile_error: return "the source does not compile";
  case FaultKind::interface_contract_error: return "the launch does not fit the task or the GPU";
  case FaultKind::correctness_mismatch: return "wrong numbers";
  case FaultKind::memory_safety_error: return "an access to memory it may not touch";
  case FaultKind::race_or_sync_error: return "a data race or a barrier not all threads reach";
  case FaultKind::uninitialized_memory_error:
    return "memory is read before it is written, or an output is never written";
  case FaultKind::candidate_runtime_error: return "the kernel was stopped while it ran";
  }
  return "a fault";
}

std::string_view in_words(FindingKind kind) {
  switch (kind) {
  case FindingKind::out_of_bounds: return "an access out of bounds";
  case FindingKind::misaligned: return "a misaligned access";
  case FindingKind::null_pointer: return "an access through a null pointer";
  case FindingKind::read_only_write: return "a write to memory that is read-only";
  case FindingKind::uninitialized_read: return "a read of memory nothing was written to";
  case FindingKind::shared_race: return "a data race in shared memory";
  case FindingKind::global_race: return "a data race in global memory";
  case FindingKind::barrier_divergence: return "a barrier that not all threads of the block reach";
  case FindingKind::deadlock: return "a deadlock";
  case FindingKind::warp_sync_divergence:
    return "a warp-wide operation whose mask names a lane that never arrives";
  case FindingKind::instruction_budget: return "far too many instructions, as of an endless loop";
  case FindingKind::time_limit: return "it did not end in time";
  case FindingKind::memory_limit: return "it needs too much memory";
  case FindingKind::stack_overflow: return "a stack overflow";
  case FindingKind::trap: return "a trap";
  case FindingKind::assertion: return "an assertion that does not hold";
  case FindingKind::output_flood: return "far too much printf output";
  case FindingKind::bad_texture: return "a bad texture or surface";
  case FindingKind::launch_limit: return "a launch beyond what the GPU can hold";
  case FindingKind::bad_argument: return "a launch whose arguments do not match the kernel";
  case FindingKind::unknown_kernel: return "a launch of a kernel the file does not define";
  case FindingKind::unsupported_instruction: return "an instruction that is not supported";
  case FindingKind::invalid_ptx: return "invalid PTX";
  case FindingKind::crash: return "a crash";
  }
  return "a fault";
}

std::string shown(std::string_view text, std::size_t limit = kMessageShown) {
  return one_line(text, limit);
}

class Lines {
public:
  explicit Lines(std::string_view source) : source_(source) {}

  // "  12 | text"; empty when the source has no such line.
  std::string quote(const std::string& file, int line) const {
    if (line < 1 || !is_kernel(file))
      return "";
    std::string_view rest = source_;
    for (int i = 1; i < line; ++i) {
      const std::size_t end = rest.find('\n');
      if (end == std::string_view::npos)
        return "";
      rest.remove_prefix(end + 1);
    }
    const std::string text = shown(rest.substr(0, rest.find('\n')), kLineShown);
    return text.empty() ? "" : fmt::format("  {} | {}", line, text);
  }

  // "line 12: " or "cuda_fp16.hpp:40: ": paths say nothing to whoever wrote the kernel.
  static std::string prefix(const std::string& file, int line) {
    if (line < 1)
      return "";
    if (is_kernel(file))
      return fmt::format("line {}: ", line);
    return fmt::format("{}:{}: ", file.substr(file.rfind('/') + 1), line);
  }

private:
  static bool is_kernel(const std::string& file) {
    static constexpr std::array<std::string_view, 7> others = {".h",    ".hpp", ".cuh", ".inl",
                                                               ".yaml", ".yml", ".json"};
    return std::none_of(others.begin(), others.end(),
                        [&](std::string_view end) { return file.ends_with(end); });
  }

  std::string_view source_;
};

void put(std::vector<std::string>& details, std::string line) {
  if (!line.empty())
    details.push_back(std::move(line));
}

// Puts the errors into the details; the first of them, or "".
std::string compiler_errors(const std::vector<Diagnostic>& diagnostics, const Lines& lines,
                            std::vector<std::string>& details) {
  std::string first;
  std::size_t errors = 0;
  for (const Diagnostic& entry : diagnostics) {
    if (entry.severity != Diagnostic::Severity::error)
      continue;
    const std::string text =
        Lines::prefix(entry.place.file, entry.place.line) + shown(entry.message);
    if (errors++ == 0)
      first = text;
    if (errors > kErrorsShown)
      continue;
    details.push_back(text);
    put(details, lines.quote(entry.place.file, entry.place.line));
  }
  if (errors > kErrorsShown)
    details.push_back(fmt::format("and {} more errors", errors - kErrorsShown));
  return first;
}

std::string case_text(const CheckedCase& failing) {
  return fmt::format("shape {}, {} inputs", shown(failing.case_id, 60), failing.distribution);
}

// Without a case on record a fault while shapes were run is one of a shape that may be hidden: such
// shapes stand among the small ones when the task lists them.
bool is_hidden(const Verdict& verdict) {
  if (verdict.failing_case)
    return verdict.failing_case->hidden;
  return verdict.rung == Rung::small_shapes || verdict.rung == Rung::hidden_shapes;
}

// Says what and where in the source, and nothing that depends on the shape.
void diagnose_hidden(const Verdict& verdict, const Lines& lines, Diagnosis& diagnosis) {
  std::string what(verdict.fault ? in_words(*verdict.fault) : "a fault");
  const auto& finding = verdict.finding;
  if (finding) {
    what = in_words(finding->kind);
    const std::string buffer = finding->buffer.substr(0, finding->buffer.find(' '));
    if (is_identifier(buffer))
      what += fmt::format(" ({})", buffer);
    put(diagnosis.details, lines.quote(finding->source_file, finding->source_line));
  } else if (verdict.mismatch && is_identifier(verdict.mismatch->buffer)) {
    what += fmt::format(" in {}", verdict.mismatch->buffer);
  } else if (!verdict.failing_case) {
    for (const Diagnostic& entry : verdict.diagnostics)
      if (entry.severity == Diagnostic::Severity::error)
        put(diagnosis.details, lines.quote(entry.place.file, entry.place.line));
  }
  const std::string place =
      finding ? Lines::prefix(finding->source_file, finding->source_line) : "";
  diagnosis.summary = fmt::format("{}{}, {}", place, what, kHiddenShape);
}

void diagnose_shown(const Verdict& verdict, const Lines& lines, Diagnosis& diagnosis) {
  const std::string where =
      verdict.failing_case ? fmt::format(" ({})", case_text(*verdict.failing_case)) : "";
  if (const auto& finding = verdict.finding) {
    diagnosis.summary = shown(finding->message) + where;
    put(diagnosis.details, lines.quote(finding->source_file, finding->source_line));
    if (finding->has_thread)
      diagnosis.details.push_back(fmt::format("block ({}), thread ({})",
                                              fmt::join(finding->block, ", "),
                                              fmt::join(finding->thread, ", ")));
    if (!finding->buffer.empty())
      diagnosis.details.push_back(
          fmt::format("{} bytes of {}", finding->size, shown(finding->buffer, kLineShown)));
    return;
  }
  if (const auto& wrong = verdict.mismatch) {
    const bool order = verdict.fault == FaultKind::race_or_sync_error;
    diagnosis.summary = fmt::format(
        "{}{}[{}] is {:.9g}, expected {:.9g} within {:.3g}{}",
        order ? "the result depends on the order of blocks, warps or atomics: " : "", wrong->buffer,
        fmt::join(wrong->index, ", "), wrong->actual, wrong->expected, wrong->tolerance, where);
    return;
  }
  const std::string first = compiler_errors(verdict.diagnostics, lines, diagnosis.details);
  diagnosis.summary = first.empty() ? shown(verdict.summary) : first;
}

} // namespace

Diagnosis diagnose(const Verdict& verdict, std::string_view source) {
  Diagnosis diagnosis;
  diagnosis.fault = verdict.fault;
  diagnosis.rung = verdict.rung;
  if (!verdict.fault) {
    diagnosis.summary = "no fault was found";
    return diagnosis;
  }
  diagnosis.hidden = is_hidden(verdict);
  if (diagnosis.hidden)
    diagnose_hidden(verdict, Lines(source), diagnosis);
  else
    diagnose_shown(verdict, Lines(source), diagnosis);
  return diagnosis;
}

Diagnosis diagnose(const Build& build, std::string_view source) {
  Diagnosis diagnosis;
  diagnosis.rung = Rung::compile;
  if (build.ok) {
    diagnosis.summary = "no fault was found";
    return diagnosis;
  }
  diagnosis.fault =
      build.syntax_error ? FaultKind::syntax_error : FaultKind::semantic_compile_error;
  diagnosis.summary = compiler_errors(build.diagnostics, Lines(source), diagnosis.details);
  if (diagnosis.summary.empty())
    diagnosis.summary = "does not compile";
  return diagnosis;
}

std::string to_text(const Diagnosis& diagnosis) {
  std::string text;
  if (diagnosis.fault)
    text = fmt::format("{}: ", name_of(*diagnosis.fault));
  text += diagnosis.summary + "\n";
  // The first error is often the summary, too.
  for (const std::string& line : diagnosis.details)
    if (line != diagnosis.summary)
      text += line + "\n";
  return text;
}

std::string to_json(const Diagnosis& diagnosis) {
  Json json;
  json["fault"] = diagnosis.fault ? Json(name_of(*diagnosis.fault)) : Json(nullptr);
  json["rung"] = name_of(diagnosis.rung);
  json["hidden"] = diagnosis.hidden;
  json["summary"] = diagnosis.summary;
  json["details"] = diagnosis.details;
  return dump_json(json);
}

Result<Diagnosis> diagnosis_from_json(std::string_view text) {
  return read_json(text, "diagnosis", [](const Json& json) {
    only_keys(json, {"fault", "rung", "hidden", "summary", "details"});
    Diagnosis diagnosis;
    diagnosis.fault = nullable_enum_at(json, "fault", FaultKind::candidate_runtime_error);
    diagnosis.rung = enum_at(json, "rung", Rung::real_shapes);
    diagnosis.hidden = json.at("hidden");
    diagnosis.summary = json.at("summary");
    diagnosis.details = json.at("details").get<std::vector<std::string>>();
    return diagnosis;
  });
}

} // namespace kernevo
