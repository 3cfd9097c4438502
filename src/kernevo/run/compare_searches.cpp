#include "kernevo/run/compare_searches.h"

#include "kernevo/base/hash.h"
#include "kernevo/propose/playbook.h"
#include "kernevo/run/open_run.h"
#include "kernevo/store/open_journal.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace kernevo::run {
namespace {

namespace fs = std::filesystem;

Result<std::unique_ptr<store::Journal>> open_or_create(const fs::path& folder) {
  return store::holds_run(folder) ? store::open_journal(folder, store::Journal::Access::write)
                                  : store::create_journal(folder);
}

RunSettings settings_of(const SearchComparison& comparison, SearchKind search, std::uint64_t seed) {
  RunSettings settings;
  settings.search = search;
  settings.seed = seed;
  settings.budget.evaluations = comparison.evaluations;
  settings.plateau = 0; // the budget decides, for all alike
  settings.roofline = 2;
  return settings;
}

Result<evolve::RunState> one_run(const SearchComparison& comparison,
                                 const evolve::RunContext& context, const RunSettings& settings,
                                 const fs::path& folder, store::Memo& shared) {
  KERNEVO_TRY(journal, open_or_create(folder));
  KERNEVO_TRY(ready, make_proposers(settings, context, folder / kTraces));
  evolve::Panel panel(std::move(ready.proposers), *journal);
  evolve::OrchestratorOptions options;
  options.jobs =
      comparison.jobs > 0 ? comparison.jobs : std::max(1U, std::thread::hardware_concurrency());
  options.shared = &shared;
  options.interrupted = comparison.interrupted;
  KERNEVO_TRY(state, evolve::fold_journal(*journal));
  if (!state.started.run.empty()) {
    if (state.started.context != context.identity || state.started.settings != settings)
      return fail(ErrorCode::usage, "holds a run with other settings or another program",
                  Place{folder.string()}, "name another folder with --out");
    return evolve::resume_run(context, *journal, panel, options);
  }
  const RunStarted started =
      first_event(context, settings, context.task.file, folder.filename().string());
  return evolve::start_run(context, started, *journal, panel, options);
}

} // namespace

Nanoseconds SearchTrial::best_at(std::uint64_t limit) const {
  Nanoseconds best = baseline;
  for (const evolve::BestPoint& point : bests)
    if (point.evaluations <= limit)
      best = std::min(best, point.objective);
  return best;
}

Result<std::vector<SearchTrial>> compare_searches(const SearchComparison& comparison) {
  KERNEVO_TRY(memory, open_or_create(comparison.folder / "memory"));
  std::vector<SearchTrial> trials;
  for (const std::string& task : comparison.tasks) {
    KERNEVO_TRY(context, evolve::make_run_context(task, DeviceChoice{.gpu = comparison.gpu}));
    KERNEVO_CHECK(evolve::estimate_work_of(context));
    const std::string short_id = sha256_hex(task).substr(0, 6);
    for (std::uint64_t seed = 0; seed < comparison.seeds; ++seed)
      for (const SearchKind search : comparison.searches) {
        if (comparison.interrupted && comparison.interrupted())
          return trials;
        const RunSettings settings = settings_of(comparison, search, seed);
        const fs::path folder =
            comparison.folder /
            fmt::format("{}-{}-{}-{}", context.task.operation, short_id, name_of(search), seed);
        KERNEVO_TRY(state, one_run(comparison, context, settings, folder, *memory));
        if (!state.baseline)
          return trials; // interrupted
        trials.push_back({task, search, seed, *state.baseline, state.bests, state.evaluations});
        if (comparison.observer)
          comparison.observer(trials.back());
      }
  }
  return trials;
}

} // namespace kernevo::run
