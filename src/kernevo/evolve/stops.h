// When a run has done enough, when it had a bad start, and what is said of it.
#pragma once

#include "kernevo/evolve/run_state.h"

namespace kernevo::evolve {

// Of all but the clock and the user, which the orchestrator watches.
std::optional<RunStopped> find_stop(const RunState& state);
// The others.
RunStopped stopped_by_user();
RunStopped stopped_by_clock(double seconds);
// A proposer has no more to give: a cap left no room for a call, or whom it asks refuses.
RunStopped stopped_by_refusal(const RunState& state, const std::optional<StopReason>& cap,
                              const Error& error);
// The run is over because the baseline has what was to be reached: the target, the roofline.
bool met_by_baseline(const RunState& state);
std::optional<Restarted> find_restart(const RunState& state);

} // namespace kernevo::evolve
