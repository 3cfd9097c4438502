#include "kernevo/evolve/compare_searches.h"

#include "kernevo/base/hash.h"
#include "kernevo/propose/playbook.h"

#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

namespace fs = std::filesystem;

// One journal's memory for all runs.
class SharedMemo : public Memo {
public:
  explicit SharedMemo(store::Journal& journal) : journal_(journal) {}
  Result<std::optional<std::string>> recall(const std::string& key) override {
    return journal_.recall(key);
  }
  Result<void> remember(const std::string& key, std::string_view body) override {
    return journal_.remember(key, body);
  }

private:
  store::Journal& journal_;
};

Result<std::unique_ptr<store::Journal>> open_or_create(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / store::kJournalFile, ignored)
             ? store::Journal::open(folder, store::Journal::Access::write)
             : store::Journal::create(folder);
}

Result<RunState> one_run(const SearchComparison& comparison, const RunContext& context,
                         const RunSettings& settings, const fs::path& folder, Memo& shared) {
  KERNEVO_TRY(journal, open_or_create(folder));
  KERNEVO_TRY(playbook, propose::Playbook::create(context.task, context.gpu));
  std::vector<std::unique_ptr<propose::Proposer>> proposers;
  proposers.push_back(std::move(playbook));
  Panel panel(std::move(proposers), *journal);
  OrchestratorOptions options;
  options.jobs = comparison.jobs;
  options.shared = &shared;
  options.interrupted = comparison.interrupted;
  KERNEVO_TRY(state, fold_journal(*journal));
  if (!state.started.run.empty()) {
    if (state.started.context != context.identity || state.started.settings != settings)
      return fail(ErrorCode::usage, "holds a run with other settings or another program",
                  Place{folder.string()}, "name another folder with --out");
    return resume_run(context, *journal, panel, options);
  }
  const RunStarted started{folder.filename().string(),
                           context.task.file,
                           sha256_hex(context.task_text),
                           context.task.name,
                           context.task.operation,
                           context.gpu.name,
                           "modelled",
                           "bench-search",
                           context.identity,
                           settings};
  return start_run(context, started, *journal, panel, options);
}

} // namespace

Nanoseconds SearchTrial::best_at(std::uint64_t limit) const {
  Nanoseconds best = baseline;
  for (const BestPoint& point : bests)
    if (point.evaluations <= limit)
      best = std::min(best, point.objective);
  return best;
}

Result<std::vector<SearchTrial>> compare_searches(const SearchComparison& comparison) {
  KERNEVO_TRY(memory, open_or_create(comparison.folder / "memory"));
  SharedMemo shared(*memory);
  std::vector<SearchTrial> trials;
  for (const std::string& task : comparison.tasks) {
    KERNEVO_TRY(context, make_run_context(task, comparison.gpu));
    const std::string short_id = sha256_hex(task).substr(0, 6);
    for (std::uint64_t seed = 0; seed < comparison.seeds; ++seed)
      for (const SearchKind search : comparison.searches) {
        if (comparison.interrupted && comparison.interrupted())
          return trials;
        RunSettings settings = comparison.settings;
        settings.search = search;
        settings.seed = seed;
        const fs::path folder =
            comparison.folder /
            fmt::format("{}-{}-{}-{}", context.task.operation, short_id, name_of(search), seed);
        KERNEVO_TRY(state, one_run(comparison, context, settings, folder, shared));
        if (!state.baseline)
          return trials; // interrupted
        trials.push_back({task, search, seed, *state.baseline, state.bests, state.evaluations});
        if (comparison.observer)
          comparison.observer(trials.back());
      }
  }
  return trials;
}

} // namespace kernevo::evolve
