// A stored run as its state.
#pragma once

#include "kernevo/evolve/run_state.h"
#include "kernevo/store/journal.h"

namespace kernevo::evolve {

// The fold of a journal: the latest snapshot and the events after it.
Result<RunState> fold_journal(store::Journal& journal);

// Whether a run that stopped, if it did, may be resumed.
bool can_go_on(const RunState& state);

} // namespace kernevo::evolve
