// kernevo ask TASK|RUN: what should be tried next? For coding agents and people who write kernels.
#include "kernevo/cli/agent_answer.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/stop_signals.h"
#include "kernevo/run/agent.h"
#include "kernevo/store/run_folders.h"

#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  CommonOptions common;
  std::string what;
  run::RunPlan plan;
  bool guide = false;
  std::string settled; // an option given that only a new run takes
};

bool is_task_file(const std::string& what) {
  std::error_code ignored;
  return fs::is_regular_file(what, ignored);
}

Json parent_json(const propose::Parent& parent) {
  Json json{{"step", parent.candidate.step},
            {"title", parent.candidate.title},
            {"source", parent.source},
            {"parameters", parent.parameters}};
  if (parent.objective)
    json["time_us"] = parent.objective->value / 1e3;
  return json;
}

Json question_json(const run::Question& question) {
  const Directive& directive = question.directive;
  Json json{{"step", directive.step},
            {"repairs_left", question.repairs_left},
            {"directive",
             {{"direction", directive.direction},
              {"reason", directive.reason},
              {"gate", directive.gate},
              {"mode", name_of(directive.mode)}}},
            {"request", question.text},
            {"parent", parent_json(question.parent)},
            {"attempts", Json::array()}};
  for (const Diagnosis& attempt : question.attempts)
    json["attempts"].push_back(Json::parse(to_json(attempt)));
  return json;
}

void print_json(const Options& options, const run::Asked& asked, const std::string& folder) {
  const evolve::RunState& state = asked.state;
  Json json{{"run", state.started.run},
            {"folder", folder},
            {"over", !asked.question},
            {"best", best_json(state)},
            {"budget", budget_json(state, asked.seconds)}};
  if (asked.question) {
    json.update(question_json(*asked.question));
    if (options.guide)
      json["guide"] = asked.guide;
  } else {
    json["reason"] = state.stopped ? Json(name_of(state.stopped->reason)) : Json(nullptr);
    json["text"] = state.stopped ? state.stopped->text : "";
  }
  fmt::print("{}\n", dump_json(json, 2));
}

void print_text(const Options& options, const run::Asked& asked, const std::string& folder) {
  const evolve::RunState& state = asked.state;
  if (!asked.question) {
    fmt::print("over     {}\nbest     {:.2f} x the reference's speed; kernevo extract {}\n",
               state.stopped ? state.stopped->text : "nothing more is asked", state.speedup(),
               folder);
    return;
  }
  const Step step = asked.question->directive.step;
  if (options.guide)
    fmt::print("{}\n", asked.guide);
  if (!options.common.quiet)
    fmt::print("run      {}, step {}, {}\n\n", folder, step, budget_line(state));
  fmt::print("{}\n", asked.question->text);
  if (!options.common.quiet)
    fmt::print("\nanswer   kernevo tell {} KERNEL.cu --step {}\n", folder, step);
}

Result<std::unique_ptr<run::OpenRun>> open(const Options& options,
                                           const run::Interrupted& interrupted) {
  if (is_task_file(options.what)) {
    run::RunPlan plan = options.plan;
    plan.task_file = options.what;
    KERNEVO_TRY(settled, run::settle(plan));
    return run::OpenRun::begin(std::move(settled), interrupted);
  }
  if (!options.settled.empty())
    return fail(ErrorCode::usage, fmt::format("{} is settled when a run begins", options.settled),
                std::nullopt, "leave it out, or name a task file to begin a new run");
  KERNEVO_TRY(stored, run::open_stored_run(options.what, store::Journal::Access::write));
  const LlmSettings llm = stored.state.started.settings.llm;
  return run::OpenRun::resume(std::move(stored), llm, interrupted);
}

Result<int> run_ask(const Options& options) {
  const StopSignals signals;
  const auto interrupted = [&signals] { return signals.requested(); };
  KERNEVO_TRY(opened, open(options, interrupted));
  KERNEVO_TRY(asked, run::ask(*opened, interrupted));
  if (options.common.json)
    print_json(options, asked, opened->folder().string());
  else
    print_text(options, asked, opened->folder().string());
  const auto& stopped = asked.state.stopped;
  if (!asked.question && stopped && stopped->reason == StopReason::unavailable)
    return exit_code(ErrorCode::unavailable);
  return asked.question ? kYes : kNo;
}

} // namespace

Command add_ask(CommandLine& app) {
  auto options = std::make_shared<Options>();
  options->plan.driver = run::Driver::agent;
  RunSettings& settings = options->plan.settings;
  settings.proposers = {"agent"};
  CommandLine* command = app.add_subcommand(
      "ask", "Ask what to try next: begins a run of a task, or goes on with one, whose kernels you "
             "write and 'tell'");
  command->add_option("TASK|RUN", options->what, "Task file (a new run) or a run's name or folder")
      ->required();
  add_device_options(*command, options->plan.device);
  command->add_option("--name", options->plan.name, "Name of the new run (default: the task's)");
  command->add_option("--out", options->plan.folder, "Folder of the new run");
  command
      ->add_option("--proposer", settings.proposers,
                   "Who writes kernels: agent (you); agent,playbook lets the bandit choose")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--rounds", settings.budget.rounds, "Take so many steps (default: 20)")
      ->check(Check::positive);
  command->add_option("--evaluations", settings.budget.evaluations, "Time so many kernels")
      ->check(Check::positive);
  command->add_option("--seconds", settings.budget.seconds, "Ask nothing new after so long")
      ->check(Check::positive);
  command->add_option("--repairs", settings.llm.repairs, "Tries to mend a faulty kernel")
      ->capture_default_str()
      ->in_range(0, 20);
  add_hot_cache(*command, settings.hot_cache);
  add_patience(*command, settings.patience_minutes);
  command->add_option("--seed", settings.seed, "Seed of every choice")->capture_default_str();
  add_inputs(*command, settings.inputs);
  command->add_flag("--guide", options->guide,
                    "Also the task, the GPU and the kernel-file format, once at the beginning");
  add_common(*command, options->common);
  return {[options, command] {
    for (const std::string& name : command->given_options())
      if (name != "TASK|RUN" && name != "--guide" && name != "--json" && name != "-q" &&
          name != "--quiet")
        options->settled = name;
    const auto code = run_ask(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
