// Runs an evolution: decides, proposes, evaluates, tells, in a steady state without generations.
// What happens is in the journal before anything depends on it.
#pragma once

#include "kernevo/evaluate/audience.h"
#include "kernevo/evolve/evaluate_candidate.h"
#include "kernevo/evolve/fold_journal.h"
#include "kernevo/evolve/panel.h"

namespace kernevo::evolve {

struct RunProgress {
  const RunState* state = nullptr;
  double seconds = 0; // since this process began
  bool stopping = false;
};

struct OrchestratorOptions {
  unsigned jobs = 1;                   // evaluations at once; says nothing about the outcome
  std::optional<RunBudget> budget;     // of a run that goes on, in place of the one it had
  double seconds_before = 0;           // that count as spent already
  std::vector<ModelCall> calls_before; // that were made before it began, to be booked first
  store::Memo* shared = nullptr;       // asked and filled beside the journal; may be null
  std::function<bool()> interrupted;   // asked often
  Audience audience = Audience::owner; // of the errors it returns
  // After every event, and now and then between them (with none).
  std::function<void(const RunEvent*, const RunProgress&)> observer;
};

// A new run: its first event and its baseline. An error when the reference itself is wrong.
// The run goes on until a stop; the state is returned as it then is.
Result<RunState> start_run(const RunContext& context, const RunStarted& started,
                           store::Journal& journal, Panel& panel,
                           const OrchestratorOptions& options);
// Goes on where the journal ends: steps under way are taken up again, nothing is done twice.
Result<RunState> resume_run(const RunContext& context, store::Journal& journal, Panel& panel,
                            const OrchestratorOptions& options);

// A run whose kernels are written outside (ask/tell) is driven a process at a time: this goes on
// until a kernel is wanted from outside, or the run is over.
Result<RunState> go_on_until_asked(const RunContext& context, store::Journal& journal, Panel& panel,
                                   const OrchestratorOptions& options);

struct Told {
  bool open = false; // it is not right, and may be mended: the step still waits
  std::uint32_t repairs_left = 0;
  Evaluation evaluation;
  std::optional<Diagnosis> diagnosis;
  RunState state;
};

// The kernel of a step that waits for one from outside; nothing in the answer is kept from whoever
// wrote it.
Result<Told> tell_step(const RunContext& context, store::Journal& journal, Panel& panel,
                       const OrchestratorOptions& options, Step step,
                       const propose::Proposal& proposal);

} // namespace kernevo::evolve
