// The journal of a run and the fold of its events, kept in step: what is recorded is applied, and
// nothing is applied that was not recorded.
#pragma once

#include "kernevo/evolve/run_state.h"
#include "kernevo/store/journal.h"

#include <functional>

namespace kernevo::evolve {

class RunLedger {
public:
  // The journal must outlive it. `recorded` is called after every event.
  RunLedger(store::Journal& journal, std::function<void(const RunEvent&)> recorded)
      : journal_(journal), recorded_(std::move(recorded)) {}

  // Folds what the journal holds.
  Result<void> load();
  const RunState& state() const { return state_; }
  RunState take_state() { return std::move(state_); }

  Result<void> record(const RunEvent& event, const store::Blobs& blobs = {},
                      std::optional<double> seconds = std::nullopt);
  Result<void> put_snapshot();

  // Records those that the journal does not have yet.
  Result<void> record_calls(const std::vector<ModelCall>& calls);
  Result<void> record_attempts(const std::vector<Attempt>& attempts,
                               const std::vector<std::string>& sources);

  // Of all calls of a step, also those of before a stop.
  ProposalCost cost_of(Step step) const;
  std::size_t attempts_of(Step step) const;
  // Instances timed for kernels of a step that were not right.
  std::size_t timed_for_attempts(Step step) const;

private:
  bool knows(const Attempt& attempt) const;

  store::Journal& journal_;
  std::function<void(const RunEvent&)> recorded_;
  RunState state_;
};

} // namespace kernevo::evolve
