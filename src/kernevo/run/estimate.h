// What a run would ask its models for, before it asks anything.
#pragma once

#include "kernevo/evolve/run_context.h"
#include "kernevo/model/run_event.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo::run {

struct StageEstimate {
  std::string name;
  std::uint64_t prompt = 0; // tokens of one call
  std::uint64_t reply = 0;
  double least = 0; // calls a step
  double most = 0;
};

struct CallEstimate {
  double calls = 0;
  double prompt = 0; // tokens
  double reply = 0;
  std::optional<double> dollars; // absent when no price is known

  double tokens() const { return prompt + reply; }
};

struct RunEstimate {
  std::vector<StageEstimate> stages;
  double steps = 0;
  CallEstimate least; // every kernel right at once
  CallEstimate most;  // every repair needed
};

// A usage error for a run without models.
Result<RunEstimate> estimate_run(const RunSettings& settings, const evolve::RunContext& context);

} // namespace kernevo::run
