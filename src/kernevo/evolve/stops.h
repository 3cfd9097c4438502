// When a run has done enough, and when it had a bad start.
#pragma once

#include "kernevo/evolve/run_state.h"

namespace kernevo::evolve {

// Of all but the clock and the user, which the orchestrator watches.
std::optional<RunStopped> find_stop(const RunState& state);
// The run is over because the baseline has what was to be reached: the target, the roofline.
bool met_by_baseline(const RunState& state);
std::optional<Restarted> find_restart(const RunState& state);

} // namespace kernevo::evolve
