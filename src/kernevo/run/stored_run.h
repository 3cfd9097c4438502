// A stored run and what is needed to go on with it or to look at it.
#pragma once

#include "kernevo/evolve/panel.h"
#include "kernevo/evolve/run_context.h"

#include <memory>
#include <string>
#include <vector>

namespace kernevo::run {

inline constexpr const char* kTraces = "traces"; // in a run's folder: the calls of its models

struct StoredRun {
  std::unique_ptr<store::Journal> journal;
  evolve::RunState state;
};

// By name or folder. An input error for a run that ended before its first event.
Result<StoredRun> open_stored_run(const std::string& name_or_folder, store::Journal::Access access);

// The task as the run has it. An input error when results would no longer compare: another program,
// compiler, table or reference.
Result<evolve::RunContext> context_of(StoredRun& run);

} // namespace kernevo::run
