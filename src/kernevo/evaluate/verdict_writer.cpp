#include "kernevo/evaluate/verdict_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

constexpr std::size_t kPrintedKept = 4096; // characters of printf output shown

} // namespace

void VerdictWriter::fault(FaultKind kind, std::string summary, FaultClass fault_class) {
  verdict_.fault = kind;
  verdict_.fault_class = fault_class;
  verdict_.summary = std::move(summary);
}

void VerdictWriter::contract_fault(const Error& error) {
  fault(FaultKind::interface_contract_error, format_error(error));
  verdict_.diagnostics.push_back(
      {Diagnostic::Severity::error, error.place.value_or(Place{file_}), error.message});
}

void VerdictWriter::warn(std::string text, bool hidden) {
  auto& list = hidden ? verdict_.hidden_warnings : verdict_.warnings;
  list.push_back(std::move(text));
}

void VerdictWriter::take(const CaseReport& report, bool hidden) {
  verdict_.cases.push_back(report.record);
  verdict_.cases.back().hidden = hidden;
  double& strict = hidden ? hidden_strict_ratio_ : shown_strict_ratio_;
  strict = std::max(strict, report.worst_strict_ratio);
  take_printed(report, hidden);
  if (!report.fault)
    return;
  const bool crash = report.finding && report.finding->kind == FindingKind::crash;
  fault(*report.fault, report.summary, crash ? FaultClass::ambiguous : FaultClass::candidate);
  verdict_.finding = report.finding;
  verdict_.mismatch = report.mismatch;
  verdict_.failing_case = verdict_.cases.back();
}

void VerdictWriter::take_printed(const CaseReport& report, bool hidden) {
  if (!verdict_.printed.empty() || report.printed.empty())
    return;
  verdict_.printed = report.printed.substr(0, kPrintedKept);
  if (report.output_flood)
    warn(fmt::format("the kernel prints more than 1 MB in case {}; the rest was dropped",
                     report.record.case_id),
         hidden);
}

void VerdictWriter::leave_unproven(std::string why) {
  if (unproven_.empty())
    unproven_ = std::move(why);
}

void VerdictWriter::conclude(const Task& task) {
  if (failed())
    return;
  if (!unproven_.empty()) {
    fault(FaultKind::unproven, unproven_, FaultClass::ambiguous);
    return;
  }
  double worst = 0;
  std::uint64_t elements = 0;
  for (const CheckedCase& c : verdict_.cases) {
    worst = std::max(worst, c.worst_error_ratio);
    elements += c.elements_checked.value_or(0);
  }
  verdict_.summary =
      fmt::format("correct{} on {} cases, {} elements compared, worst error {:.0f} % of its "
                  "tolerance",
                  verdict_.unseen > 0
                      ? fmt::format(", bounded: at most {:.0f} % unseen,", 100 * verdict_.unseen)
                      : "",
                  verdict_.cases.size(), elements, worst * 100);
  const double worst_strict = std::max(shown_strict_ratio_, hidden_strict_ratio_);
  if (worst_strict > 8)
    warn(fmt::format("passes only by the declared tolerance: the worst error is {:.0f} times what "
                     "{} arithmetic with float32 accumulation explains",
                     worst_strict, name_of(task.dtype)),
         hidden_strict_ratio_ > shown_strict_ratio_);
}

} // namespace kernevo
