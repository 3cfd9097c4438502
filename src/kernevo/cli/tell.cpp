// kernevo tell RUN KERNEL: the kernel that was asked for; what came of it?
#include "kernevo/base/files.h"
#include "kernevo/cli/agent_run.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/proposers.h"
#include "kernevo/propose/read_reply.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string run;
  std::string kernel;
  std::optional<Step> step;
  std::string title;
};

Result<Step> waiting_step(const evolve::RunState& state, const std::optional<Step>& asked) {
  if (asked)
    return *asked;
  for (const auto& [step, directive] : state.pending)
    if (directive.proposer == "agent")
      return step;
  return fail(ErrorCode::usage, "no step of this run waits for a kernel", std::nullopt,
              "'kernevo ask RUN' says what is wanted, or that the run is over");
}

std::string outcome_of(const evolve::Told& told) {
  return told.open ? "repair" : std::string(name_of(told.evaluation.outcome));
}

Json told_json(const evolve::Told& told, Step step, double seconds) {
  const evolve::RunState& state = told.state;
  const Evaluation& e = told.evaluation;
  Json json{{"run", state.started.run},
            {"step", step},
            {"outcome", outcome_of(told)},
            {"open", told.open},
            {"right", !told.open && is_right(e.outcome)},
            {"new_best", !told.open && e.outcome == StepOutcome::improved},
            {"repairs_left", told.repairs_left},
            {"diagnosis", told.diagnosis && !(is_right(e.outcome) && !told.open)
                              ? Json::parse(to_json(*told.diagnosis))
                              : Json(nullptr)}};
  if (e.objective && !told.open) {
    json["time_us"] = e.objective->value / 1e3;
    json["method"] = state.started.method;
    json["speedup"] = state.baseline->value / e.objective->value;
    json["parameters"] = e.parameters;
    json["findings"] = Json::array();
    for (const BottleneckFinding& finding : e.bottlenecks)
      json["findings"].push_back({{"tag", name_of(finding.tag)},
                                  {"severity", finding.severity},
                                  {"message", finding.message}});
  }
  if (e.duplicate_of)
    json["duplicate_of"] = *e.duplicate_of;
  json["best"] = best_json(state);
  json["budget"] = budget_json(state, seconds);
  return json;
}

void print_told(const evolve::Told& told, Step step, bool quiet) {
  const Evaluation& e = told.evaluation;
  const evolve::RunState& state = told.state;
  if (told.open || (told.diagnosis && !is_right(e.outcome))) {
    fmt::print("{}  step {}: {}\n", paint(told.open ? "REPAIR" : "WRONG", Tone::bad), step,
               to_text(*told.diagnosis));
    if (told.open)
      fmt::print("mend it and tell step {} again; {} tries left\n", step, told.repairs_left);
  } else if (e.objective) {
    fmt::print("{}  step {}: {}, {:.2f} x the reference's speed, {}\n",
               e.outcome == StepOutcome::improved ? paint("NEW BEST", Tone::good)
                                                  : paint("RIGHT", Tone::plain),
               step, time_text(e.objective->value), state.baseline->value / e.objective->value,
               state.started.method);
    if (!quiet)
      for (const BottleneckFinding& finding : e.bottlenecks)
        fmt::print("  {}  {}\n", name_of(finding.tag), finding.message);
  } else {
    fmt::print("{}  step {}: {}\n", name_of(e.outcome), step, e.summary);
  }
  if (!quiet)
    fmt::print("spent    {}\n", budget_line(state));
}

Result<int> run(const Options& options) {
  const StopSignals signals;
  KERNEVO_TRY(source, read_text_file(options.kernel, 1U << 20U));
  KERNEVO_TRY(stored, open_run(options.run, store::Journal::Access::write));
  KERNEVO_TRY(context, context_of(stored));
  KERNEVO_TRY(step, waiting_step(stored.state, options.step));
  KERNEVO_TRY(proposers, make_proposers(stored.state.started.settings, context,
                                        stored.journal->folder() / kTraces));
  evolve::Panel panel(std::move(proposers), *stored.journal);
  KERNEVO_TRY(seconds, seconds_since_start(*stored.journal));
  propose::Proposal proposal;
  proposal.source = source;
  proposal.title = options.title;
  if (proposal.title.empty())
    if (const auto read = propose::read_kernel_reply(source))
      proposal.title = read->title;
  KERNEVO_TRY(told, evolve::tell_step(context, *stored.journal, panel,
                                      agent_orchestration(signals, seconds), step, proposal));
  if (options.common.json)
    fmt::print("{}\n",
               told_json(told, step, seconds).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_told(told, step, options.common.quiet);
  return !told.open && told.evaluation.outcome == StepOutcome::improved ? kYes : kNo;
}

} // namespace

Command add_tell(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "tell",
      "Give the kernel that 'ask' asked for: it is checked, tuned, timed and judged; exit 0 "
      "when it is the new best");
  command->add_option("RUN", options->run, "A run's name or folder")->required();
  command->add_option("KERNEL", options->kernel, "Kernel file")->required();
  command->add_option("--step", options->step, "The step it is for (default: the one that waits)");
  command->add_option("--title", options->title, "What it does differently, in one sentence");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
