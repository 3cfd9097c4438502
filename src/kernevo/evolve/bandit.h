// Which of the open arms promises most: what it brought so far, what the parent's bottlenecks say
// of it, how little it was tried, and what its proposer brings for what it costs.
#pragma once

#include "kernevo/evolve/navigator.h"

namespace kernevo::evolve {

struct ScoredArm {
  OpenArm arm;
  double score = 0;
  double prior = 0;  // from the parent's findings
  double reward = 0; // mean so far
  std::uint64_t tries = 0;
  double worth = 1; // of the proposer: its gain per cost over the best proposer's
  const BottleneckFinding* finding = nullptr; // that asks for the direction; null when none does
};

// Highest score first; equals in an order that the seed decides.
std::vector<ScoredArm> score_arms(const RunState& state, const Member& parent,
                                  const std::vector<OpenArm>& arms, std::uint64_t seed);

} // namespace kernevo::evolve
