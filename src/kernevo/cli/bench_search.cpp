// kernevo bench-search TASK...: does evolving beat simpler searches at the same budget?
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/stop_signals.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/run/compare_searches.h"
#include "kernevo/run/plan.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

namespace kernevo::cli {
namespace {

using run::SearchTrial;

struct Options {
  CommonOptions common;
  run::SearchComparison comparison;
  std::vector<std::string> searches = {"evolve", "best-of-n", "sequential"};
  std::string out = "kernevo-search";
};

constexpr std::array<double, 5> kMoments = {0.1, 0.25, 0.5, 0.75, 1.0};
constexpr double kSame = 0.01; // ln: within one per cent neither has won

// Mean speed-up (geometric) over the seeds after a share of the budget.
double mean_speedup(const std::vector<const SearchTrial*>& trials, double share,
                    std::uint64_t budget) {
  double sum = 0;
  for (const SearchTrial* trial : trials) {
    const auto limit = static_cast<std::uint64_t>(std::lround(share * static_cast<double>(budget)));
    sum += std::log(trial->baseline.value / trial->best_at(limit).value);
  }
  return std::exp(sum / static_cast<double>(trials.size()));
}

std::vector<const SearchTrial*> of(const std::vector<SearchTrial>& trials, const std::string& task,
                                   SearchKind search) {
  std::vector<const SearchTrial*> found;
  for (const SearchTrial& trial : trials)
    if (trial.task == task && trial.search == search)
      found.push_back(&trial);
  return found;
}

// The area under the curve says who was faster on the way, the end who came further.
struct Score {
  double way = 0;
  double end = 0;
};

Score score_of(const std::vector<const SearchTrial*>& trials, std::uint64_t budget) {
  Score score{0, std::log(mean_speedup(trials, 1.0, budget))};
  constexpr int kSamples = 50;
  for (int i = 1; i <= kSamples; ++i)
    score.way += std::log(mean_speedup(trials, i / double{kSamples}, budget)) / kSamples;
  return score;
}

std::string versus(double ours, double theirs) {
  return ours > theirs + kSame ? "ahead" : ours < theirs - kSame ? "behind" : "same";
}

void print_curves(const Options& options, const std::vector<SearchTrial>& trials) {
  std::vector<std::vector<std::string>> rows = {{"task", "search"}};
  for (const double moment : kMoments)
    rows[0].push_back(fmt::format("{:.0f} %", 100 * moment));
  rows[0].insert(rows[0].end(), {"spent", "on the way", "at the end"});
  for (const std::string& task : options.comparison.tasks) {
    const auto ours = of(trials, task, SearchKind::evolve);
    for (const SearchKind search : options.comparison.searches) {
      const auto theirs = of(trials, task, search);
      if (theirs.empty())
        continue;
      std::vector<std::string> row = {task, std::string(name_of(search))};
      for (const double moment : kMoments)
        row.push_back(
            fmt::format("{:.2f} x", mean_speedup(theirs, moment, options.comparison.evaluations)));
      double spent = 0;
      for (const SearchTrial* trial : theirs)
        spent += static_cast<double>(trial->evaluations) / static_cast<double>(theirs.size());
      row.push_back(fmt::format("{:.0f}", spent));
      if (search != SearchKind::evolve && !ours.empty()) {
        const Score a = score_of(ours, options.comparison.evaluations);
        const Score b = score_of(theirs, options.comparison.evaluations);
        row.push_back("evolve " + versus(a.way, b.way));
        row.push_back("evolve " + versus(a.end, b.end));
      }
      rows.push_back(std::move(row));
    }
  }
  fmt::print("{}", table(rows, 0));
}

void print_verdict(const Options& options, const std::vector<SearchTrial>& trials) {
  for (const SearchKind search : options.comparison.searches) {
    if (search == SearchKind::evolve)
      continue;
    int ahead = 0;
    int same = 0;
    int behind = 0;
    int way = 0;
    for (const std::string& task : options.comparison.tasks) {
      const auto ours = of(trials, task, SearchKind::evolve);
      const auto theirs = of(trials, task, search);
      if (ours.empty() || theirs.empty())
        continue;
      const Score a = score_of(ours, options.comparison.evaluations);
      const Score b = score_of(theirs, options.comparison.evaluations);
      ahead += a.end > b.end + kSame ? 1 : 0;
      behind += a.end < b.end - kSame ? 1 : 0;
      same += std::abs(a.end - b.end) <= kSame ? 1 : 0;
      way += a.way > b.way + kSame ? 1 : 0;
    }
    fmt::print(
        "evolve against {}: ahead at the end on {} tasks, the same on {}, behind on {}; ahead "
        "on the way on {} (mean of {} seeds, {} evaluations, modelled)\n",
        name_of(search), ahead, same, behind, way, options.comparison.seeds,
        options.comparison.evaluations);
  }
}

void print_json(const Options& options, const std::vector<SearchTrial>& trials) {
  Json list = Json::array();
  for (const SearchTrial& trial : trials) {
    Json curve = Json::array();
    for (const evolve::BestPoint& point : trial.bests)
      curve.push_back({point.evaluations, point.objective.value});
    list.push_back(Json{{"task", trial.task},
                        {"search", name_of(trial.search)},
                        {"seed", trial.seed},
                        {"baseline_ns", trial.baseline.value},
                        {"evaluations", trial.evaluations},
                        {"bests", curve}});
  }
  fmt::print("{}\n", Json{{"budget", options.comparison.evaluations}, {"trials", list}}.dump(2));
}

Result<int> run(Options& options) {
  run::SearchComparison& comparison = options.comparison;
  for (const std::string& name : options.searches) {
    KERNEVO_TRY(kind, run::read_search(name));
    comparison.searches.push_back(kind);
  }
  const StopSignals signals;
  comparison.interrupted = [&] { return signals.requested(); };
  comparison.folder = options.out;
  if (!options.common.json && !options.common.quiet)
    comparison.observer = [&](const SearchTrial& trial) {
      fmt::print(stderr, "{} {} seed {}: {:.2f} x after {} evaluations\n", trial.task,
                 name_of(trial.search), trial.seed,
                 trial.baseline.value / trial.best_at(options.comparison.evaluations).value,
                 trial.evaluations);
    };
  KERNEVO_TRY(trials, run::compare_searches(comparison));
  if (options.common.json) {
    print_json(options, trials);
    return kYes;
  }
  print_curves(options, trials);
  print_verdict(options, trials);
  return kYes;
}

} // namespace

Command add_bench_search(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "bench-search", "Evolve against simpler searches at the same budget, over tasks and seeds: "
                      "speed-up over the reference along the way");
  command->add_option("TASK", options->comparison.tasks, "Task files (YAML)")->required();
  command->add_option("--search", options->searches, "Which searches to run")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--seeds", options->comparison.seeds, "Runs of each")
      ->capture_default_str()
      ->in_range(1, 10000);
  command->add_option("--evaluations", options->comparison.evaluations, "Kernels timed in each run")
      ->capture_default_str()
      ->in_range(1, 1000000);
  command->add_option("--gpu", options->comparison.gpu, "Named GPU instead of the tasks' targets");
  command->add_option("--jobs", options->comparison.jobs,
                      "Evaluate so many in parallel (default: one per core)");
  command
      ->add_option("--out", options->out,
                   "Folder of the runs; the same command goes on where it was stopped")
      ->capture_default_str();
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
