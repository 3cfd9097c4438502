// kernevo tell RUN KERNEL: the kernel that was asked for; what came of it?
#include "kernevo/base/files.h"
#include "kernevo/cli/agent_answer.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/stop_signals.h"
#include "kernevo/run/agent.h"

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

std::string word_of(StepOutcome outcome) {
  if (outcome == StepOutcome::improved)
    return paint("NEW BEST", Tone::good);
  return is_right(outcome) ? paint("RIGHT", Tone::plain)
                           : paint(std::string(name_of(outcome)), Tone::warning);
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
    fmt::print("{}  step {}: {}, {:.2f} x the reference's speed, {}\n", word_of(e.outcome), step,
               time_text(e.objective->value), state.baseline->value / e.objective->value,
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
  KERNEVO_TRY(stored, run::open_stored_run(options.run, store::Journal::Access::write));
  const auto interrupted = [&signals] { return signals.requested(); };
  const LlmSettings llm = stored.state.started.settings.llm;
  KERNEVO_TRY(opened, run::OpenRun::resume(std::move(stored), llm, interrupted));
  KERNEVO_TRY(told, run::tell(*opened, {source, options.title, options.step}, interrupted));
  if (options.common.json)
    fmt::print("{}\n", dump_json(told_json(told.result, told.step, told.seconds), 2));
  else
    print_told(told.result, told.step, options.common.quiet);
  const bool best = !told.result.open && told.result.evaluation.outcome == StepOutcome::improved;
  return best ? kYes : kNo;
}

} // namespace

Command add_tell(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
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
