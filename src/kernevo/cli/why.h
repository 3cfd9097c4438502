// The chain behind a step: what was counted, which rule it met, what was decided, what came of it.
#pragma once

#include "kernevo/run/stored_run.h"

namespace kernevo::cli {

Result<int> print_why(run::StoredRun& run, Step step, bool json);

} // namespace kernevo::cli
