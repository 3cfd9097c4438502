// How `evolve --dry-run` shows what a run would ask its models for.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/model/run_event.h"
#include "kernevo/run/estimate.h"

namespace kernevo::cli {

void print_estimate(const run::RunEstimate& estimate, const RunBudget& budget,
                    const CommonOptions& options);

} // namespace kernevo::cli
