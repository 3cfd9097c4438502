// What the answers of `ask` and `tell` have in common.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/evolve/run_state.h"
#include "kernevo/model/json_fields.h"

namespace kernevo::cli {

Json best_json(const evolve::RunState& state);
Json budget_json(const evolve::RunState& state, double seconds);

// "3 of 20 rounds, 12 of 300 evaluations".
std::string budget_line(const evolve::RunState& state);

} // namespace kernevo::cli
