#include "kernevo/cli/blind.h"

#include "kernevo/cli/command_line.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::cli {
namespace {

bool names_a_hidden_case(const std::string& text, const Task& task) {
  return std::any_of(task.check_shapes.begin(), task.check_shapes.end(),
                     [&](const ShapeCase& shape) { return text.find(shape.id) != text.npos; });
}

// "correct on 9 cases (4 of them hidden), worst error ...": the number of elements would tell the
// sizes.
std::string summary_of(const Verdict& verdict, std::size_t hidden) {
  double worst = 0;
  for (const CheckedCase& c : verdict.cases)
    worst = std::max(worst, c.worst_error_ratio);
  return fmt::format("correct on {} cases ({} of them hidden), worst error {:.0f} % of its "
                     "tolerance",
                     verdict.cases.size(), hidden, worst * 100);
}

} // namespace

BlindVerdict blind_verdict(Verdict verdict, const Task& task, std::string_view source) {
  BlindVerdict blind;
  const auto is_hidden = [](const CheckedCase& c) { return c.hidden; };
  blind.hidden_cases = static_cast<std::size_t>(
      std::count_if(verdict.cases.begin(), verdict.cases.end(), is_hidden));
  if (verdict.fault) {
    blind.diagnosis = diagnose(verdict, source);
    verdict.summary = blind.diagnosis->summary;
  } else {
    verdict.summary = summary_of(verdict, blind.hidden_cases);
  }
  const bool hidden_fault = blind.diagnosis && blind.diagnosis->hidden;
  if (hidden_fault) {
    if (!verdict.failing_case)
      verdict.diagnostics.clear(); // a launch that could not be made: its numbers are the shape's
    verdict.finding.reset();
    verdict.mismatch.reset();
    verdict.failing_case.reset();
  }
  if (blind.hidden_cases > 0 || hidden_fault)
    verdict.printed.clear(); // a kernel can print what it sees
  std::erase_if(verdict.cases, is_hidden);
  std::erase_if(verdict.warnings,
                [&](const std::string& warning) { return names_a_hidden_case(warning, task); });
  blind.verdict = std::move(verdict);
  return blind;
}

void add_blind(CommandLine& command, bool& blind) {
  command.add_flag("--blind", blind,
                   "Say nothing of hidden shapes but how many there are and whether they passed: "
                   "for whoever writes the kernel");
}

} // namespace kernevo::cli
