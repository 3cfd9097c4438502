// kernevo replay RUN: do the decisions follow from the journal?
#include "kernevo/evolve/replay.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/run/proposers.h"
#include "kernevo/run/stored_run.h"

#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string run;
};

Result<int> run(const Options& options) {
  KERNEVO_TRY(stored, run::open_stored_run(options.run, store::Journal::Access::read));
  KERNEVO_TRY(context, run::context_of(stored));
  KERNEVO_TRY(proposers, run::make_known_proposers(stored.state.started.settings, context));
  evolve::Panel panel(std::move(proposers), *stored.journal);
  KERNEVO_TRY(result, evolve::replay_run(*stored.journal, panel));
  const bool same = result.differences.empty();
  if (options.common.json) {
    fmt::print("{}\n", Json{{"run", stored.state.started.run},
                            {"decisions", result.decisions},
                            {"proposals", result.proposals},
                            {"contests", result.contests},
                            {"identical", same},
                            {"differences", result.differences}}
                           .dump(2));
    return same ? kYes : kNo;
  }
  for (const std::string& difference : result.differences)
    fmt::print("  {}\n", difference);
  fmt::print("{}  {} decisions and {} kernels made again from the journal{}{}\n",
             same ? paint("IDENTICAL", Tone::good) : paint("DIFFERENT", Tone::bad),
             result.decisions, result.proposals,
             result.contests == 0
                 ? ""
                 : fmt::format(", {} bests held against their shots again", result.contests),
             same ? "" : "; was it written by another version?");
  return same ? kYes : kNo;
}

} // namespace

Command add_replay(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "replay", "Make a run's decisions again from its journal, and prove them identical");
  command->add_option("RUN", options->run, "A run's name or folder")->required();
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
