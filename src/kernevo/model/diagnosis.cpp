#include "kernevo/model/diagnosis.h"

#include "kernevo/base/one_line.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/model/source_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo {
namespace {

constexpr std::size_t kErrorsShown = 8;
constexpr std::size_t kBufferShown = 160;
constexpr std::size_t kMessageShown = 400;

std::string shown(std::string_view text, std::size_t limit = kMessageShown) {
  return one_line(text, limit);
}

void put(std::vector<std::string>& details, std::string line) {
  if (!line.empty())
    details.push_back(std::move(line));
}

// Puts the errors into the details; the first of them, or "".
std::string compiler_errors(const std::vector<Diagnostic>& diagnostics, std::string_view source,
                            std::vector<std::string>& details) {
  std::string first;
  std::size_t errors = 0;
  for (const Diagnostic& entry : diagnostics) {
    if (entry.severity != Diagnostic::Severity::error)
      continue;
    const std::string text = line_prefix(entry.place.file, entry.place.line) + shown(entry.message);
    if (errors++ == 0)
      first = text;
    if (errors > kErrorsShown)
      continue;
    details.push_back(text);
    put(details, quote_line(source, entry.place.file, entry.place.line));
  }
  if (errors > kErrorsShown)
    details.push_back(fmt::format("and {} more errors", errors - kErrorsShown));
  return first;
}

std::string case_text(const CheckedCase& failing) {
  return fmt::format("shape {}, {} inputs", shown(failing.case_id, 60), failing.distribution);
}

void describe_fault(const Verdict& verdict, std::string_view source, Diagnosis& diagnosis) {
  const std::string where =
      verdict.failing_case ? fmt::format(" ({})", case_text(*verdict.failing_case)) : "";
  if (const auto& finding = verdict.finding) {
    diagnosis.summary = shown(finding->message) + where;
    put(diagnosis.details, quote_line(source, finding->source_file, finding->source_line));
    if (finding->has_thread)
      diagnosis.details.push_back(fmt::format("block ({}), thread ({})",
                                              fmt::join(finding->block, ", "),
                                              fmt::join(finding->thread, ", ")));
    if (!finding->buffer.empty())
      diagnosis.details.push_back(
          fmt::format("{} bytes of {}", finding->size, shown(finding->buffer, kBufferShown)));
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
  const std::string first = compiler_errors(verdict.diagnostics, source, diagnosis.details);
  diagnosis.summary = first.empty() ? shown(verdict.summary) : first;
}

} // namespace

Diagnosis diagnose_fully(const Verdict& verdict, std::string_view source) {
  Diagnosis diagnosis;
  diagnosis.fault = verdict.fault;
  diagnosis.rung = verdict.rung;
  if (verdict.fault)
    describe_fault(verdict, source, diagnosis);
  else
    diagnosis.summary = "no fault was found";
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
  diagnosis.summary = compiler_errors(build.diagnostics, source, diagnosis.details);
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
    diagnosis.fault = nullable_enum_at(json, "fault", FaultKind::unproven);
    diagnosis.rung = enum_at(json, "rung", Rung::real_shapes);
    diagnosis.hidden = json.at("hidden");
    diagnosis.summary = json.at("summary");
    diagnosis.details = json.at("details").get<std::vector<std::string>>();
    return diagnosis;
  });
}

} // namespace kernevo
