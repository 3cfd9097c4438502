// What a run would ask its models for, before it asks anything.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/evolve/run_context.h"
#include "kernevo/model/run_event.h"

namespace kernevo::cli {

// Prints calls, tokens and dollars as a range: every kernel right at once, and every repair needed.
Result<int> print_estimate(const RunSettings& settings, const evolve::RunContext& context,
                           const CommonOptions& options);

} // namespace kernevo::cli
