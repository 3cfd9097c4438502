// kernevo evolve TASK: a faster kernel, and the story of how.
#include "kernevo/base/suggest.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/evolve_summary.h"
#include "kernevo/cli/evolve_view.h"
#include "kernevo/cli/llm_estimate.h"
#include "kernevo/cli/llm_options.h"
#include "kernevo/cli/new_run.h"
#include "kernevo/cli/proposers.h"
#include "kernevo/cli/run_parts.h"
#include "kernevo/cli/stop_signals.h"
#include "kernevo/evolve/orchestrator.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/report/tensorboard.h"
#include "kernevo/store/run_folders.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <thread>

namespace kernevo::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDefaultEvaluations = 300;
constexpr std::uint64_t kDefaultTokens = 200'000; // of a run with models and no cap of its own
// Options that say nothing about what a run decides.
const std::set<std::string> kWhenResumed = {
    "TASK",    "--resume",      "--name",        "--out",    "--jobs",    "--json",   "-q",
    "--quiet", "--tensorboard", "--evaluations", "--rounds", "--seconds", "--tokens", "--dollars"};

struct Options {
  CommonOptions common;
  std::string task;
  std::string gpu;
  std::string name;
  std::string out;
  std::string search = "evolve";
  std::vector<std::string> proposers = {"playbook"};
  RunSettings settings;
  LlmOptions llm;
  std::optional<double> target_us;
  unsigned jobs = 0;
  bool resume = false;
  bool tensorboard = false;
  bool dry_run = false;
  std::string settled; // an option given that a resumed run has settled already
};

tl::unexpected<Error> wrong(const std::string& text, const std::string& fix) {
  return fail(ErrorCode::usage, text, std::nullopt, fix);
}

Result<void> check_numbers(const Options& options) {
  const RunSettings& settings = options.settings;
  const auto count = [](const std::optional<std::uint64_t>& value) {
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  };
  const std::array<std::pair<const char*, std::optional<double>>, 7> positive = {
      {{"--evaluations", count(settings.budget.evaluations)},
       {"--rounds", count(settings.budget.rounds)},
       {"--seconds", settings.budget.seconds},
       {"--tokens", count(settings.budget.tokens)},
       {"--dollars", settings.budget.dollars},
       {"--target-us", options.target_us},
       {"--roofline", settings.roofline}}};
  for (const auto& [name, value] : positive)
    if (value && !(std::isfinite(*value) && *value > 0))
      return wrong(fmt::format("{} {} is not more than nothing", name, *value),
                   "give a number above 0, or leave it out");
  return {};
}

Result<void> check_name(const std::string& name) {
  if (name == "." || name == ".." || name.find('/') != std::string::npos)
    return wrong(fmt::format("'{}' is no name for a run", name), "use --out for a folder");
  return {};
}

Result<RunSettings> settings_of(const Options& options, const Task& task) {
  RunSettings settings = options.settings;
  const auto kind = search_kind(options.search);
  if (!kind)
    return wrong(fmt::format("there is no search '{}'{}", options.search,
                             did_you_mean(options.search, {"evolve", "best-of-n", "sequential"})),
                 "use evolve, best-of-n or sequential");
  KERNEVO_CHECK(check_numbers(options));
  settings.search = *kind;
  settings.proposers = options.proposers;
  KERNEVO_TRY(llm, llm_settings_of(options.llm));
  settings.llm = std::move(llm);
  KERNEVO_CHECK(settle_proposers(settings));
  for (const std::string& name : settings.proposers)
    if (name == "agent")
      return wrong("an agent drives a run itself", "use 'kernevo ask TASK' and 'kernevo tell'");
  RunBudget& budget = settings.budget;
  if (!budget.rounds && task.budget.rounds)
    budget.rounds = static_cast<std::uint64_t>(*task.budget.rounds);
  if (!budget.evaluations && task.budget.evaluations)
    budget.evaluations = static_cast<std::uint64_t>(*task.budget.evaluations);
  if (!budget.seconds)
    budget.seconds = task.budget.seconds;
  if (!budget.rounds && !budget.evaluations && !budget.seconds)
    budget.evaluations = kDefaultEvaluations;
  // Where nobody knows what a token costs, a cap in dollars alone may not hold.
  const bool priced =
      std::all_of(settings.llm.models.begin(), settings.llm.models.end(),
                  [](const ModelSettings& model) { return model.price.has_value(); });
  if (!settings.llm.models.empty() && !budget.tokens && !(budget.dollars && priced))
    budget.tokens = kDefaultTokens;
  const std::optional<double> target = options.target_us ? options.target_us : task.target_us;
  if (target)
    settings.target_ns = *target * 1e3;
  if (options.jobs > settings.ahead)
    settings.ahead = options.jobs;
  return settings;
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

int conclude(const evolve::RunState& state, store::Journal& journal, EvolveView& view,
             const report::TensorboardLog* log) {
  view.finish(state, journal);
  if (log != nullptr && log->problem())
    fmt::print(stderr, "kernevo: the TensorBoard log is not whole: {}\n",
               format_error(*log->problem()));
  return state.speedup() > 1 ? kYes : kNo;
}

// There is nothing to go on with.
int already_over(const Options& options, StoredRun& run) {
  const evolve::RunState& state = run.state;
  if (options.common.json)
    fmt::print("{}\n", Json{{"event", "run_stopped"},
                            {"body", Json::parse(to_json(RunEvent(*state.stopped)))}}
                           .dump(-1, ' ', false, Json::error_handler_t::replace));
  else {
    if (!options.common.quiet)
      fmt::print("run      {} is finished: {}\n", run.journal->folder().string(),
                 state.stopped->text);
    print_run_summary(state, *run.journal, run.journal->folder(), options.common.quiet);
  }
  return state.speedup() > 1 ? kYes : kNo;
}

// What was asked for now in place of what the run had.
RunBudget extended(RunBudget budget, const RunBudget& asked) {
  if (asked.evaluations)
    budget.evaluations = asked.evaluations;
  if (asked.rounds)
    budget.rounds = asked.rounds;
  if (asked.seconds)
    budget.seconds = asked.seconds;
  if (asked.tokens)
    budget.tokens = asked.tokens;
  if (asked.dollars)
    budget.dollars = asked.dollars;
  return budget;
}

Result<int> resume(const Options& options, const std::string& which) {
  const StopSignals signals;
  KERNEVO_CHECK(check_numbers(options));
  KERNEVO_TRY(run, open_run(which, store::Journal::Access::write));
  const RunBudget budget = extended(run.state.started.settings.budget, options.settings.budget);
  if (!evolve::can_go_on(run.state) && budget == run.state.started.settings.budget)
    return already_over(options, run);
  KERNEVO_TRY(context, context_of(run));
  RunSettings settings = run.state.started.settings;
  KERNEVO_TRY(llm, resumed_llm_settings(settings.llm, options.llm));
  settings.llm = llm;
  std::vector<std::shared_ptr<llm::ChatClient>> clients;
  KERNEVO_TRY(proposers,
              make_proposers(settings, context, run.journal->folder() / kTraces, &clients));
  KERNEVO_TRY(probed, probe_models(clients, [&signals] { return signals.requested(); }));
  evolve::Panel panel(std::move(proposers), *run.journal);
  KERNEVO_TRY(log, open_log(options, *run.journal, run.state.started.run));
  EvolveView view(options.common, context, run.journal->folder());
  view.begin(run.state.started, &run.state);
  evolve::OrchestratorOptions how = orchestration(options, signals, view, log.get());
  how.budget = budget;
  how.calls_before = probed;
  KERNEVO_TRY(end, evolve::resume_run(context, *run.journal, panel, how));
  return conclude(end, *run.journal, view, log.get());
}

Result<int> start(const Options& options) {
  const StopSignals signals;
  KERNEVO_TRY(context, evolve::make_run_context(options.task, options.gpu));
  KERNEVO_TRY(settings, settings_of(options, context.task));
  if (options.dry_run)
    return print_estimate(settings, context, options.common);
  KERNEVO_CHECK(check_name(options.name));
  const std::string name = !options.name.empty()
                               ? options.name
                               : store::free_run_name(run_name(context.task.name, options.task));
  const fs::path folder = options.out.empty() ? store::runs_folder() / name : fs::path(options.out);
  FreshFolder made(folder);
  std::vector<std::shared_ptr<llm::ChatClient>> clients;
  KERNEVO_TRY(proposers, make_proposers(settings, context, folder / kTraces, &clients));
  KERNEVO_TRY(probed, probe_models(clients, [&signals] { return signals.requested(); }));
  KERNEVO_TRY(journal, store::Journal::create(folder));
  evolve::Panel panel(std::move(proposers), *journal);
  const RunStarted started = run_started(context, settings, options.task,
                                         options.out.empty() ? name : folder.filename().string());
  EvolveView view(options.common, context, folder);
  view.begin(started, nullptr);
  const auto log = open_log(options, *journal, started.run);
  evolve::OrchestratorOptions how =
      orchestration(options, signals, view, log ? log->get() : nullptr);
  how.calls_before = probed;
  auto end = !log ? tl::unexpected<Error>(log.error())
                  : evolve::start_run(context, started, *journal, panel, how);
  if (!end) {
    // A run without a baseline is no run.
    const auto state = evolve::fold_journal(*journal);
    const bool keep = !state || state->baseline;
    journal.reset();
    if (keep)
      made.keep();
    return tl::unexpected<Error>(end.error());
  }
  made.keep();
  return conclude(*end, *journal, view, log->get());
}

Result<int> run(const Options& options) {
  if (!options.resume && options.task.empty())
    return fail(ErrorCode::usage, "TASK is required", std::nullopt, "see 'kernevo evolve --help'");
  if (!options.resume)
    return start(options);
  if (!options.settled.empty())
    return wrong(fmt::format("{} cannot change when a run goes on", options.settled),
                 "leave it out, or start a new run");
  const std::string which = !options.out.empty()    ? options.out
                            : !options.name.empty() ? options.name
                                                    : options.task;
  if (which.empty())
    return wrong("which run is to go on?", "'kernevo runs' lists them: evolve --resume RUN");
  return resume(options, which);
}

} // namespace

Command add_evolve(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "evolve", "Evolve a faster kernel: propose, check, time, profile and tune, again and again, "
                "guided by what holds the best one back");
  command->add_option("TASK", options->task, "Task file (YAML); with --resume a run");
  command->add_option("--gpu,--device", options->gpu, "Named GPU instead of the task's target");
  command
      ->add_option("--proposer", options->proposers,
                   "Who writes kernels: playbook, llm, command:CMD; several with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command
      ->add_option("--search", options->search,
                   "evolve, or a control at the same budget: best-of-n, sequential")
      ->capture_default_str();
  RunSettings& settings = options->settings;
  command
      ->add_option("--evaluations", settings.budget.evaluations,
                   "Time so many kernels (default: 300, unless another budget is given)")
      ->check(CLI::PositiveNumber);
  command->add_option("--rounds", settings.budget.rounds, "Take so many steps")
      ->check(CLI::PositiveNumber);
  command->add_option("--seconds", settings.budget.seconds, "Begin nothing new after so long")
      ->check(CLI::PositiveNumber);
  command->add_option("--tokens", settings.budget.tokens, "Spend at most so many tokens")
      ->check(CLI::PositiveNumber);
  command->add_option("--dollars", settings.budget.dollars, "Spend at most so much money")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--target-us", options->target_us,
                   "Fast enough, in microseconds (default: the task's target)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--roofline", settings.roofline,
                   "Enough of what the roofline allows, as a fraction")
      ->capture_default_str();
  command
      ->add_option("--plateau", settings.plateau,
                   "Stop after so many steps without a gain; 0: never")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", settings.seed, "Seed of every choice")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--ahead", settings.ahead,
                   "Steps under way when the next is decided; the same number and seed give the "
                   "same run")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_option("--jobs", options->jobs, "Evaluate so many in parallel (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--islands", settings.islands,
                   "Populations that exchange their best now and then")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  command->add_option("--migration", settings.migration, "Steps between two exchanges")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command
      ->add_option("--first-tuning", settings.first_tuning,
                   "Instances of a new structure that are timed before it competes")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  command
      ->add_option("--restart-after", settings.restart_after,
                   "Start afresh after so many evaluations without a speed-up; 0: never")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--restart-after-tokens", settings.restart_after_tokens,
                   "Start afresh after so many tokens without a speed-up; 0: never")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--command-seconds", settings.command_seconds,
                   "How long a command:CMD may take for a kernel")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_flag("--dry-run", options->dry_run,
                    "Say which calls of models a run would make and what they may cost; make none");
  add_llm_options(*command, options->llm);
  command->add_option("--name", options->name, "Name of the run (default: the task's)");
  command->add_option("--out", options->out, "Folder of the run (default: kernevo-runs/NAME)");
  command->add_flag("--tensorboard", options->tensorboard,
                    "Write event files for TensorBoard to FOLDER/tensorboard while it runs");
  command->add_flag("--resume", options->resume, "Go on with a run that was stopped, by whatever");
  add_common(*command, options->common);
  return {[options, command] {
    for (const CLI::Option* option : command->get_options())
      if (const std::string name = option->get_name(); option->count() > 0 &&
                                                       !kWhenResumed.contains(name) &&
                                                       !kLlmOptionsWhenResumed.contains(name))
        options->settled = name;
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
