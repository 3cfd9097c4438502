// kernevo profile TASK KERNEL: why does it take as long as it does?
#include "kernevo/cli/checked_bench.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/profile_report.h"
#include "kernevo/evaluate/explain_bench.h"

#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

Result<int> run(const CheckedBenchOptions& options) {
  KERNEVO_TRY(rules, load_rules());
  KERNEVO_TRY(benched, checked_bench(options));
  if (!benched)
    return kNo;
  KERNEVO_TRY(explanations, explain_bench(benched->task, benched->result, rules));
  const ProfileReport report{options.task, options.kernel, benched->kernel, benched->result,
                             explanations};
  fmt::print("{}", options.common.json    ? profile_json(report) + "\n"
                   : options.common.quiet ? profile_summary(report)
                                          : profile_text(report));
  return kYes;
}

} // namespace

Command add_profile(CommandLine& app) {
  auto options = std::make_shared<CheckedBenchOptions>();
  CommandLine* command = app.add_subcommand(
      "profile", "Why does this kernel take as long as it does? Counters, roofline, bounds, what "
                 "holds it back with what to try, and the source lines behind it");
  add_checked_bench(*command, *options);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
