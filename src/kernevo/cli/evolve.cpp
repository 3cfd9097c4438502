// kernevo evolve TASK: a faster kernel, and the story of how.
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/evolve_summary.h"
#include "kernevo/cli/evolve_view.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/llm_estimate.h"
#include "kernevo/cli/llm_options.h"
#include "kernevo/cli/stop_signals.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/report/tensorboard.h"
#include "kernevo/run/open_run.h"
#include "kernevo/store/run_folders.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <thread>

namespace kernevo::cli {
namespace {

// Options that say nothing about what a run decides.
const std::set<std::string> kWhenResumed = {
    "TASK",    "--resume",      "--name",        "--out",    "--jobs",    "--json",   "-q",
    "--quiet", "--tensorboard", "--evaluations", "--rounds", "--seconds", "--tokens", "--dollars"};

struct Options {
  CommonOptions common;
  run::RunPlan plan; // with --resume its task file is a run
  std::string search = "evolve";
  run::ModelChoice llm;
  unsigned jobs = 0; // 0: one per core
  bool resume = false;
  bool tensorboard = false;
  bool dry_run = false;
  std::string settled; // an option given that a resumed run has settled already
};

tl::unexpected<Error> wrong(const std::string& text, const std::string& fix) {
  return fail(ErrorCode::usage, text, std::nullopt, fix);
}

Result<run::RunPlan> plan_of(const Options& options) {
  run::RunPlan plan = options.plan;
  KERNEVO_TRY(search, run::read_search(options.search));
  plan.settings.search = search;
  KERNEVO_TRY(llm, run::llm_settings_of(options.llm));
  plan.settings.llm = std::move(llm);
  plan.settings.ahead = std::max<std::size_t>(plan.settings.ahead, options.jobs);
  return plan;
}

unsigned jobs_of(const Options& options) {
  return options.jobs == 0 ? std::max(1U, std::thread::hardware_concurrency()) : options.jobs;
}

evolve::OrchestratorOptions orchestration(const Options& options, const StopSignals& signals,
                                          EvolveView& view, report::TensorboardLog* log) {
  evolve::OrchestratorOptions how;
  how.jobs = jobs_of(options);
  how.interrupted = [&signals] { return signals.requested(); };
  how.observer = [&view, log](const RunEvent* event, const evolve::RunProgress& progress) {
    view.show(event, progress);
    if (log != nullptr)
      log->show(event, progress);
  };
  return how;
}

// Null when none is wanted.
Result<std::unique_ptr<report::TensorboardLog>>
open_log(const Options& options, store::Journal& journal, const std::string& run) {
  if (!options.tensorboard)
    return nullptr;
  return report::TensorboardLog::create(journal.folder() / "tensorboard", journal, run);
}

// What was written beside the run, and would be missed only when it is needed.
void warn_if_incomplete(std::string_view what, const std::optional<Error>& problem) {
  if (problem)
    fmt::print(stderr, "kernevo: {} not whole: {}\n", what, format_error(*problem));
}

// There is nothing to go on with.
int already_over(const Options& options, run::StoredRun& run) {
  const evolve::RunState& state = run.state;
  if (options.common.json)
    fmt::print("{}\n", dump_json(Json{{"event", "run_stopped"},
                                      {"body", Json::parse(to_json(RunEvent(*state.stopped)))}}));
  else {
    if (!options.common.quiet)
      fmt::print("run      {} is finished: {}\n", run.journal->folder().string(),
                 state.stopped->text);
    print_run_summary(state, *run.journal, run.journal->folder(), options.common.quiet);
  }
  return exit_code_of(state);
}

Result<int> carry_out(const Options& options, run::OpenRun& run, const StopSignals& signals,
                      const std::optional<RunBudget>& budget) {
  EvolveView view(options.common, run.context(), run.folder());
  view.begin(run.started(), run.is_new() ? nullptr : &run.state());
  KERNEVO_TRY(log, open_log(options, run.journal(), run.started().run));
  evolve::OrchestratorOptions how = orchestration(options, signals, view, log.get());
  how.budget = budget;
  KERNEVO_TRY(end, run.go_on(how));
  view.finish(end, run.journal());
  if (paused_on_a_device(end))
    fmt::print(stderr, "kernevo: paused, and nothing is lost: {} ('kernevo evolve --resume {}')\n",
               end.stopped->text, run.folder().string());
  if (log != nullptr)
    warn_if_incomplete("the TensorBoard log is", log->problem());
  warn_if_incomplete("the traces of model calls are", run.trace_problem());
  return exit_code_of(end);
}

Result<int> resume(const Options& options, const std::string& which) {
  const StopSignals signals;
  const RunBudget& asked = options.plan.settings.budget;
  KERNEVO_CHECK(run::check_budget(asked));
  KERNEVO_TRY(stored, run::open_stored_run(which, store::Journal::Access::write));
  const RunSettings& settings = stored.state.started.settings;
  const RunBudget budget = run::extended(settings.budget, asked);
  if (!evolve::can_go_on(stored.state) && budget == settings.budget)
    return already_over(options, stored);
  KERNEVO_TRY(llm, run::resumed_llm_settings(settings.llm, options.llm));
  KERNEVO_TRY(resumed, run::OpenRun::resume(std::move(stored), llm,
                                            [&signals] { return signals.requested(); }));
  return carry_out(options, *resumed, signals, budget);
}

Result<int> start(const Options& options) {
  const StopSignals signals;
  KERNEVO_TRY(plan, plan_of(options));
  KERNEVO_TRY(settled, run::settle(plan));
  if (options.dry_run) {
    KERNEVO_TRY(estimate, run::estimate_run(settled.settings, settled.context));
    print_estimate(estimate, settled.settings.budget, options.common);
    return kYes;
  }
  KERNEVO_TRY(begun,
              run::OpenRun::begin(std::move(settled), [&signals] { return signals.requested(); }));
  return carry_out(options, *begun, signals, std::nullopt);
}

Result<int> run_evolve(const Options& options) {
  const run::RunPlan& plan = options.plan;
  if (!options.resume && plan.task_file.empty())
    return fail(ErrorCode::usage, "TASK is required", std::nullopt, "see 'kernevo evolve --help'");
  if (!options.resume)
    return start(options);
  if (!options.settled.empty())
    return wrong(fmt::format("{} cannot change when a run goes on", options.settled),
                 "leave it out, or start a new run");
  const std::string which = !plan.folder.empty() ? plan.folder
                            : !plan.name.empty() ? plan.name
                                                 : plan.task_file;
  if (which.empty())
    return wrong("which run is to go on?", "'kernevo runs' lists them: evolve --resume RUN");
  return resume(options, which);
}

} // namespace

Command add_evolve(CommandLine& app) {
  auto options = std::make_shared<Options>();
  RunSettings& settings = options->plan.settings;
  CommandLine* command = app.add_subcommand(
      "evolve", "Evolve a faster kernel: propose, check, time, profile and tune, again and again, "
                "guided by what holds the best one back");
  command->add_option("TASK", options->plan.task_file, "Task file (YAML); with --resume a run");
  add_device_options(*command, options->plan.device);
  command
      ->add_option("--proposer", settings.proposers,
                   "Who writes kernels: playbook, llm, command:CMD; several with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command
      ->add_option("--search", options->search,
                   "evolve, or a control at the same budget: best-of-n, sequential")
      ->capture_default_str();
  command
      ->add_option("--evaluations", settings.budget.evaluations,
                   "Time so many kernels (default: 300, unless another budget is given)")
      ->check(Check::positive);
  command->add_option("--rounds", settings.budget.rounds, "Take so many steps")
      ->check(Check::positive);
  command->add_option("--seconds", settings.budget.seconds, "Begin nothing new after so long")
      ->check(Check::positive);
  command->add_option("--tokens", settings.budget.tokens, "Spend at most so many tokens")
      ->check(Check::positive);
  command->add_option("--dollars", settings.budget.dollars, "Spend at most so much money")
      ->check(Check::positive);
  command
      ->add_option("--target-us", options->plan.target_us,
                   "Fast enough, in microseconds (default: the task's target)")
      ->check(Check::positive);
  command
      ->add_option("--roofline", settings.roofline,
                   "Enough of what the roofline allows, as a fraction")
      ->capture_default_str();
  add_hot_cache(*command, settings.hot_cache);
  add_patience(*command, settings.patience_minutes);
  command
      ->add_option("--plateau", settings.plateau,
                   "Stop after so many steps without a gain; 0: never")
      ->capture_default_str()
      ->check(Check::not_negative);
  command->add_option("--seed", settings.seed, "Seed of every choice")
      ->capture_default_str()
      ->check(Check::not_negative);
  add_inputs(*command, settings.inputs);
  command
      ->add_option("--ahead", settings.ahead,
                   "Steps under way when the next is decided; the same number and seed give the "
                   "same run")
      ->capture_default_str()
      ->in_range(1, 1024);
  command
      ->add_option("--jobs", options->jobs, "Evaluate so many in parallel (default: one per core)")
      ->in_range(1, 1024);
  command
      ->add_option("--islands", settings.islands,
                   "Populations that exchange their best now and then")
      ->capture_default_str()
      ->in_range(1, 64);
  command->add_option("--migration", settings.migration, "Steps between two exchanges")
      ->capture_default_str()
      ->in_range(1, 1000000);
  command
      ->add_option("--first-tuning", settings.first_tuning,
                   "Instances of a new structure that are timed before it competes")
      ->capture_default_str()
      ->in_range(1, 100000);
  command
      ->add_option("--restart-after", settings.restart_after,
                   "Start afresh after so many evaluations without a speed-up; 0: never")
      ->capture_default_str()
      ->check(Check::not_negative);
  command
      ->add_option("--restart-after-tokens", settings.restart_after_tokens,
                   "Start afresh after so many tokens without a speed-up; 0: never")
      ->capture_default_str()
      ->check(Check::not_negative);
  command
      ->add_option("--command-seconds", settings.command_seconds,
                   "How long a command:CMD may take for a kernel")
      ->capture_default_str()
      ->check(Check::positive);
  command->add_flag("--dry-run", options->dry_run,
                    "Say which calls of models a run would make and what they may cost; make none");
  add_llm_options(*command, options->llm);
  command->add_option("--name", options->plan.name, "Name of the run (default: the task's)");
  command->add_option("--out", options->plan.folder,
                      "Folder of the run (default: kernevo-runs/NAME)");
  command->add_flag("--tensorboard", options->tensorboard,
                    "Write event files for TensorBoard to FOLDER/tensorboard while it runs");
  command->add_flag("--resume", options->resume, "Go on with a run that was stopped, by whatever");
  add_common(*command, options->common);
  return {[options, command] {
    for (const std::string& name : command->given_options())
      if (!kWhenResumed.contains(name) && !kLlmOptionsWhenResumed.contains(name))
        options->settled = name;
    const auto code = run_evolve(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
