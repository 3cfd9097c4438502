// kernevo tune TASK KERNEL: which parameters are best?
#include "kernevo/base/files.h"
#include "kernevo/cli/blind.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/stop_signals.h"
#include "kernevo/cli/tune_replay.h"
#include "kernevo/cli/tune_report.h"
#include "kernevo/kernel/set_defaults.h"
#include "kernevo/task/load_task.h"
#include "kernevo/tune/kernel_objective.h"

#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

namespace fs = std::filesystem;
using search::Trial;

constexpr std::size_t kDefaultEvaluations = 100;
constexpr std::size_t kReplayEvaluations = 200;

struct Options {
  CommonOptions common;
  std::string task;
  std::string kernel;
  DeviceChoice device;
  std::optional<std::int64_t> evaluations;
  std::optional<double> seconds;
  BenchOptions bench;
  std::string strategy{search::kDefaultStrategy};
  std::uint64_t seed = 0;
  unsigned jobs = 0;
  std::optional<std::size_t> ahead;
  std::string log;
  std::string export_cache;
  std::string import_cache;
  std::string write;
  bool force = false;
  bool blind = false;
  std::string replay;
  std::uint64_t seeds = 20;
};

Result<void> check_budget(const Options& options) {
  if (options.evaluations && *options.evaluations < 1)
    return fail(
        ErrorCode::usage,
        fmt::format("a budget of {} evaluations leaves nothing to do", *options.evaluations),
        std::nullopt, "give --evaluations at least 1");
  if (options.seconds && !(*options.seconds > 0))
    return fail(ErrorCode::usage,
                fmt::format("a budget of {} seconds leaves nothing to do", *options.seconds),
                std::nullopt, "give --seconds more than 0");
  return {};
}

// Before hours are spent: could the result be written?
Result<void> check_target(const Options& options) {
  if (options.write.empty())
    return {};
  std::error_code ignored;
  if (fs::exists(options.write, ignored) && !options.force)
    return fail(ErrorCode::usage, "exists already", Place{options.write},
                "name another file for --write, or add --force");
  const fs::path folder = fs::absolute(options.write, ignored).parent_path();
  if (!fs::is_directory(folder, ignored))
    return fail(ErrorCode::usage, "is not a folder", Place{folder.string()},
                "--write needs one that exists");
  return {};
}

// The log the user named, or the one kept for this kernel; a cache that cannot be written only
// means that nothing is kept.
Result<std::optional<search::TuningLog>> open_log(const Options& options,
                                                  const tune::TuningSubject& subject,
                                                  const search::SearchOptions& search,
                                                  TuneNames& names) {
  const bool named = !options.log.empty();
  const fs::path path = named ? fs::path(options.log) : tune::default_log(subject);
  if (path.empty())
    return std::nullopt;
  std::error_code problem;
  if (!named)
    fs::create_directories(path.parent_path(), problem);
  auto log = search::TuningLog::open(path, subject.log_header(search), subject.space);
  if (!log && named)
    return tl::unexpected<Error>(log.error());
  if (!log) {
    if (!options.common.quiet)
      fmt::print(stderr, "kernevo: {}; this run cannot be resumed\n", format_error(log.error()));
    return std::nullopt;
  }
  if (!options.blind) // it holds every reason
    names.log = path.string();
  return std::optional<search::TuningLog>(std::move(*log));
}

tune::TunerOptions tuner_options(const Options& options, const tune::TuningSubject& subject) {
  tune::TunerOptions tuner;
  tuner.search.strategy = options.strategy;
  tuner.search.seed = options.seed;
  if (subject.defaults)
    tuner.search.seeds = {*subject.defaults};
  if (options.evaluations)
    tuner.evaluations = static_cast<std::size_t>(*options.evaluations);
  else if (!options.seconds)
    tuner.evaluations = kDefaultEvaluations;
  tuner.seconds = options.seconds;
  tuner.jobs = options.jobs == 0 ? std::max(1U, std::thread::hardware_concurrency()) : options.jobs;
  tuner.ahead = std::max<std::size_t>(options.ahead.value_or(tune::kDefaultAhead), tuner.jobs);
  return tuner;
}

// The trials of a cache file; none when there is no such option, or when it is yet to be written.
Result<std::vector<Trial>> read_cache(const std::string& file, bool may_be_missing,
                                      const tune::TuningSubject& subject) {
  std::error_code ignored;
  if (file.empty() || (may_be_missing && !fs::exists(file, ignored)))
    return std::vector<Trial>{};
  return search::read_kernel_tuner_cache(file, subject.cache_header(), subject.space);
}

// Later sources know better. Those given up early have estimates for times, which a cache file
// cannot say.
Result<void> export_cache(const std::string& file, const tune::TuningSubject& subject,
                          const std::vector<const std::vector<Trial>*>& sources) {
  std::map<search::Configuration, const Trial*> chosen;
  for (const std::vector<Trial>* source : sources)
    for (const Trial& trial : *source)
      if (!trial.partial)
        chosen[trial.configuration] = &trial;
  std::vector<Trial> trials;
  for (const auto& [configuration, trial] : chosen)
    trials.push_back(*trial);
  return search::write_kernel_tuner_cache(file, subject.cache_header(), subject.space, trials);
}

void show_to(Audience audience, std::vector<Trial>& trials) {
  for (Trial& trial : trials)
    trial = visible(std::move(trial), audience);
}

Result<int> run_tuning(const Options& options) {
  KERNEVO_TRY(task, load_task(options.task));
  KERNEVO_TRY(kernel, load_kernel_file(options.kernel));
  KERNEVO_CHECK(check_target(options));
  KERNEVO_TRY(device, open_for(options.device, task.task, options.common));
  KERNEVO_CHECK(check_cache(*device, options.bench.hot_cache));
  KERNEVO_TRY(subject, tune::prepare_subject(task.task, kernel, *device, options.bench.hot_cache));
  tune::TunerOptions tuner = tuner_options(options, subject);
  KERNEVO_CHECK(search::make_strategy(options.strategy, subject.space));
  KERNEVO_TRY(known, read_cache(options.import_cache, false, subject));
  tuner.known = std::move(known);
  KERNEVO_TRY(exported, read_cache(options.export_cache, true, subject));
  TuneNames names{options.task, options.kernel, options.device, {}, {}};
  KERNEVO_TRY(log, open_log(options, subject, tuner.search, names));

  const StopSignals signals;
  TuneProgress progress(options.common, subject, tuner);
  progress.header(names, log ? log->trials().size() : 0);
  tuner.interrupted = [&] { return signals.requested(); };
  tuner.observer = [&](tune::TuningEvent event, const tune::TuningState& state) {
    progress.show(event, state);
  };
  const Audience audience = audience_of(options.blind);
  tune::KernelObjective objective(*device, task.task, kernel, options.bench, 0, audience);
  const auto start = std::chrono::steady_clock::now();
  auto result = tune::tune(subject.space, objective, log ? &*log : nullptr, tuner);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  progress.finish();
  if (!result) {
    Error error = visible(result.error(), audience);
    if (error.fix.empty() && !names.log.empty())
      error.fix = "what was evaluated is in the log; the same command goes on from there";
    return tl::unexpected<Error>(std::move(error));
  }
  show_to(audience, result->trials);
  show_to(audience, tuner.known);
  if (!options.export_cache.empty()) {
    std::vector<Trial> logged = log ? log->trials() : std::vector<Trial>{};
    show_to(audience, logged);
    KERNEVO_CHECK(export_cache(options.export_cache, subject,
                               {&exported, &tuner.known, &logged, &result->trials}));
  }
  if (!options.write.empty() && result->best) {
    KERNEVO_TRY(text, set_defaults(kernel, subject.space.values(result->best->configuration)));
    KERNEVO_CHECK(write_file_atomically(options.write, text));
    names.written = options.write;
  }
  const TuneSummary summary{names, subject, tuner, *result, objective.same_code(), spent.count()};
  if (options.common.json)
    print_tune_json(summary);
  else
    print_tune_summary(summary, options.common.quiet);
  return result->best ? kYes : kNo;
}

Result<int> run(const Options& options) {
  KERNEVO_CHECK(check_budget(options));
  if (!options.replay.empty()) {
    if (!options.task.empty())
      return fail(ErrorCode::usage,
                  "--replay searches a recording; it takes no task and no kernel");
    search::SearchOptions search;
    search.strategy = options.strategy;
    search.seed = options.seed;
    return replay_recorded(
        options.replay, search,
        static_cast<std::size_t>(options.evaluations.value_or(kReplayEvaluations)),
        options.ahead.value_or(1), options.seeds, options.common);
  }
  if (options.kernel.empty())
    return fail(ErrorCode::usage, "TASK and KERNEL are required", std::nullopt,
                "see 'kernevo tune --help'");
  return run_tuning(options);
}

} // namespace

Command add_tune(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "tune", "Which values of its @tune parameters make this kernel fastest? Searches under a "
              "budget, checks every new best, and can be stopped and started again");
  command->add_option("TASK", options->task, "Task file (YAML)");
  command->add_option("KERNEL", options->kernel, "Kernel file with @tune lines");
  command->add_option("--evaluations", options->evaluations,
                      "Try so many configurations (default: 100, unless --seconds is given)");
  command->add_option("--seconds", options->seconds, "Begin nothing new after so many seconds");
  add_hot_cache(*command, options->bench.hot_cache);
  add_patience(*command, options->bench.patience_minutes);
  std::string strategies;
  for (const search::StrategyEntry& entry : search::strategies())
    strategies += fmt::format("{}{}", strategies.empty() ? "" : ", ", entry.name);
  command->add_option("--strategy", options->strategy, "How to choose what to try: " + strategies)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the search")->capture_default_str();
  command
      ->add_option("--jobs", options->jobs,
                   "Build and profile so many configurations in parallel (default: one per core)")
      ->in_range(1, 1024);
  command
      ->add_option("--ahead", options->ahead,
                   fmt::format("Choose so many before the first of them is known; the same number, "
                               "seed and strategy give the same run (default: {}, or --jobs if "
                               "that is more; 1 with --replay)",
                               tune::kDefaultAhead))
      ->in_range(1, 1024);
  add_device_options(*command, options->device);
  command->add_option("--log", options->log,
                      "Keep what was tried here, and go on from it (default: a file of this "
                      "kernel, task and GPU in the cache folder)");
  command->add_option("--import-cache", options->import_cache,
                      "Begin with the trials of this cache file (Kernel Tuner's format)");
  command->add_option("--export-cache", options->export_cache,
                      "Write all trials to this cache file (Kernel Tuner's format)");
  command->add_option("--write", options->write,
                      "Write a copy of the kernel with the best values as its defaults");
  command->add_flag("--force", options->force, "Let --write replace a file");
  command->add_option("--replay", options->replay,
                      "Instead of a task and a kernel: search this recorded space (a table or a "
                      "Kernel Tuner cache, also gzip) and print how near the optimum it comes");
  command->add_option("--seeds", options->seeds, "Of --replay: repeat with so many seeds")
      ->capture_default_str()
      ->in_range(1, 10000);
  add_blind(*command, options->blind);
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
