#include "kernevo/evolve/fold_journal.h"

namespace kernevo::evolve {

Result<RunState> fold_journal(store::Journal& journal) {
  RunState state;
  std::int64_t from = 1;
  KERNEVO_TRY(snapshot, journal.snapshot());
  // One that another version wrote may not be read; the events say the same.
  if (snapshot)
    if (auto stored = run_state_from_json(snapshot->body)) {
      state = std::move(*stored);
      from = snapshot->number + 1;
    }
  KERNEVO_CHECK(journal.read(from, [&](const store::StoredEvent& stored) {
    state.apply(stored.event);
    return true;
  }));
  return state;
}

bool can_go_on(const RunState& state) {
  return !state.stopped || state.stopped->reason == StopReason::interrupted ||
         state.stopped->reason == StopReason::seconds ||
         state.stopped->reason == StopReason::trouble ||
         state.stopped->reason == StopReason::unavailable;
}

} // namespace kernevo::evolve
