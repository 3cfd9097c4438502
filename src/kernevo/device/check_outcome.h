// A worker runs code that nobody trusts: what it answers must at least be possible.
#pragma once

#include "kernevo/device/device.h"

namespace kernevo {

// An error says what cannot be. `launches_kernels`: the module may launch kernels itself, so that
// more blocks run than the plan names.
Result<void> check_outcome(const RunRequest& request, const RunOutcome& outcome,
                           bool launches_kernels);

// Blocks of all launches of the plan.
double planned_blocks(const RunRequest& request);

} // namespace kernevo
