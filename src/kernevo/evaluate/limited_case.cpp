#include "kernevo/evaluate/limited_case.h"

#include "kernevo/evaluate/check_limits.h"

namespace kernevo {
namespace {

// Who polls takes more turns when one core runs all blocks, as the sanitizers want it.
constexpr std::uint64_t kSanitizedFactor = 4;

bool used_up(const CaseReport& report) {
  return report.finding && (report.finding->kind == FindingKind::instruction_budget ||
                            report.finding->kind == FindingKind::deadlock ||
                            report.finding->kind == FindingKind::time_limit);
}

} // namespace

Result<CaseReport> run_limited_case(BoundSubject& subject, const CaseInputs& inputs,
                                    const ExpectationSource& expectation,
                                    const CaseOptions& options, std::uint64_t first_budget) {
  const auto run = [&](bool sanitize, std::uint64_t budget) {
    CaseOptions limited = options;
    limited.sanitize = sanitize;
    limited.instruction_budget = budget;
    limited.seconds = processor_seconds(budget, options.seconds);
    return run_case(subject, inputs, expectation, limited);
  };
  if (!options.sanitize || first_budget >= options.instruction_budget)
    return run(options.sanitize, options.instruction_budget);
  KERNEVO_TRY(first, run(true, first_budget));
  if (!used_up(first))
    return first;
  KERNEVO_TRY(plain, run(false, options.instruction_budget));
  if (plain.finding)
    return plain;
  return run(true, first_budget + kSanitizedFactor * plain.warp_instructions);
}

} // namespace kernevo
