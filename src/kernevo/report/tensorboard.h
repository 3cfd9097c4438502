// A run as TensorBoard sees it: from its journal, and while it goes on.
#pragma once

#include "kernevo/evolve/orchestrator.h"
#include "kernevo/report/run_scalars.h"
#include "kernevo/store/journal.h"

#include <filesystem>
#include <memory>
#include <optional>

namespace kernevo::report {

class TensorboardLog {
public:
  // A new event file in the folder with all the journal tells so far. Files this run left there
  // before are replaced, so that nothing is there twice.
  static Result<std::unique_ptr<TensorboardLog>>
  create(const std::filesystem::path& folder, store::Journal& journal, const std::string& run);

  // The observer of a run: after every event, in order. The first trouble with the file ends the
  // log, not the run.
  void show(const RunEvent* event, const evolve::RunProgress& progress);
  const std::optional<Error>& problem() const { return problem_; }
  const std::filesystem::path& path() const { return path_; }
  std::size_t events() const { return events_; } // of the run, that were written

private:
  TensorboardLog(std::filesystem::path path, EventFile file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> put(const RunEvent& event, const evolve::RunState& state, double wall_seconds);

  std::filesystem::path path_;
  EventFile file_;
  RunScalars scalars_;
  std::optional<Error> problem_;
  std::size_t events_ = 0;
};

} // namespace kernevo::report
