// kernevo show RUN: what happened, and why?
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/evolve_summary.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/screen.h"
#include "kernevo/cli/why.h"
#include "kernevo/evolve/stops.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/run/stored_run.h"

#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

constexpr std::size_t kLastSteps = 20;

struct Options {
  CommonOptions common;
  std::string run;
  std::optional<Step> why;
  std::optional<Step> from;
  std::size_t limit = kLastSteps;
};

std::string objective_text(const store::StepRow& row) {
  return row.objective_ns ? time_text(*row.objective_ns) : "-";
}

Json to_json(const store::StepRow& row) {
  Json json{{"step", row.step},           {"mode", row.mode},      {"proposer", row.proposer},
            {"direction", row.direction}, {"title", row.title},    {"source", row.source},
            {"outcome", row.outcome},     {"summary", row.summary}};
  put_optional(json, "parent", row.parent);
  put_optional(json, "objective_ns", row.objective_ns);
  return json;
}

void print_steps(const std::vector<store::StepRow>& rows) {
  const std::size_t width = is_terminal() ? terminal_width() : 140;
  std::vector<std::vector<std::string>> lines = {
      {"step", "from", "mode", "direction", "time", "outcome", "what"}};
  for (const store::StepRow& row : rows)
    lines.push_back({std::to_string(row.step), row.parent ? std::to_string(*row.parent) : "-",
                     row.mode, row.direction.empty() ? "-" : row.direction, objective_text(row),
                     row.outcome.empty() ? "under way" : row.outcome,
                     cut(row.summary.empty() ? row.title : row.summary, width / 2)});
  fmt::print("{}", table(lines, 0));
}

Result<int> run(const Options& options) {
  KERNEVO_TRY(stored, run::open_stored_run(options.run, store::Journal::Access::read));
  if (options.why)
    return print_why(stored, *options.why, options.common.json);
  const Step next = stored.state.next_step;
  const Step from = options.from.value_or(next > options.limit ? next - options.limit : 0);
  KERNEVO_TRY(rows, stored.journal->steps(from, options.limit));
  if (options.common.json) {
    Json steps = Json::array();
    for (const store::StepRow& row : rows)
      steps.push_back(to_json(row));
    fmt::print("{}\n", dump_json(Json{{"run", stored.state.started.run},
                                      {"state", Json::parse(evolve::to_json(stored.state))},
                                      {"met_by_baseline", evolve::met_by_baseline(stored.state)},
                                      {"steps", steps}},
                                 2));
    return kYes;
  }
  const RunStarted& started = stored.state.started;
  fmt::print("run      {}\ntask     {} ({})\ndevice   {}; times are {}\n",
             stored.journal->folder().string(), started.task_file, started.operation,
             is_modelled(started)       ? "virtual " + started.gpu
             : started.hardware.empty() ? started.device
                                        : fmt::format("{} ({})", started.device, started.hardware),
             started.method);
  if (!options.common.quiet)
    print_steps(rows);
  print_run_summary(stored.state, *stored.journal, stored.journal->folder(), options.common.quiet);
  return kYes;
}

} // namespace

Command add_show(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command =
      app.add_subcommand("show", "What happened in a run, and why each step was taken");
  command->add_option("RUN", options->run, "A run's name or folder")->required();
  command
      ->add_option("--why", options->why,
                   "Why was this step taken? From the counter to the rule to the decision")
      ->check(Check::not_negative);
  command->add_option("--from", options->from, "First step to list (default: the last ones)")
      ->check(Check::not_negative);
  command->add_option("--limit", options->limit, "List so many steps")
      ->capture_default_str()
      ->check(Check::not_negative);
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
