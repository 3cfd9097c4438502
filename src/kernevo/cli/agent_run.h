// A run whose kernels somebody outside writes: what `ask` and `tell` have in common.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/cli/run_parts.h"
#include "kernevo/cli/stop_signals.h"
#include "kernevo/evolve/orchestrator.h"
#include "kernevo/model/json_fields.h"

namespace kernevo::cli {

// Seconds since the run began, for a budget in seconds: pauses of the agent count.
Result<double> seconds_since_start(store::Journal& journal);

evolve::OrchestratorOptions agent_orchestration(const StopSignals& signals, double seconds_before);

Json best_json(const evolve::RunState& state);
Json budget_json(const evolve::RunState& state, double seconds);

// "3 of 20 rounds, 12 of 300 evaluations".
std::string budget_line(const evolve::RunState& state);

} // namespace kernevo::cli
