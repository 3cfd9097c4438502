// Runs an evolution: decides, proposes, evaluates, tells, in a steady state without generations.
// What happens is in the journal before anything depends on it.
#pragma once

#include "kernevo/evolve/evaluate_candidate.h"
#include "kernevo/evolve/panel.h"

namespace kernevo::evolve {

struct RunProgress {
  const RunState* state = nullptr;
  double seconds = 0; // since this process began
  bool stopping = false;
};

struct OrchestratorOptions {
  unsigned jobs = 1;                 // evaluations at once; says nothing about the outcome
  std::optional<RunBudget> budget;   // of a run that goes on, in place of the one it had
  Memo* shared = nullptr;            // asked and filled beside the journal; may be null
  std::function<bool()> interrupted; // asked often
  // After every event, and now and then between them (with none).
  std::function<void(const RunEvent*, const RunProgress&)> observer;
};

// The fold of a journal: the latest snapshot and the events after it.
Result<RunState> fold_journal(store::Journal& journal);

// Whether a run that stopped, if it did, may be resumed.
bool can_go_on(const RunState& state);

// A new run: its first event and its baseline. An error when the reference itself is wrong.
// The run goes on until a stop; the state is returned as it then is.
Result<RunState> start_run(const RunContext& context, const RunStarted& started,
                           store::Journal& journal, Panel& panel,
                           const OrchestratorOptions& options);
// Goes on where the journal ends: steps under way are taken up again, nothing is done twice.
Result<RunState> resume_run(const RunContext& context, store::Journal& journal, Panel& panel,
                            const OrchestratorOptions& options);

} // namespace kernevo::evolve
