// Finds how often each block ran from what is known of sums of them. The unknowns are the passages
// over the edges, conserved at every block by construction and never negative; the knowns are met
// in the least-absolute sense, so that a minority of wrong ones does not bend the rest.
#pragma once

#include "kernevo/sass/flow.h"

#include <vector>

namespace kernevo::sass {

// sum of coefficient x executions of the block = value
struct CountEquation {
  std::vector<std::pair<std::size_t, double>> blocks;
  double value = 0;
  double weight = 1; // trust; errors are taken relative to `value`
};

// An assumption decides only what measured counts leave open.
inline constexpr double kAssumptionWeight = 1e-4;

// Passages over an edge of the flow, or (edge absent) executions of a block, should be `value`.
struct CountExpectation {
  std::optional<std::size_t> edge;
  std::size_t block = 0;
  double value = 0;
  double weight = kAssumptionWeight;
};

struct FlowCounts {
  std::vector<double> blocks;
  std::vector<double> edges;
};

FlowCounts solve_flow(const Flow& flow, const std::vector<CountEquation>& equations,
                      const std::vector<CountExpectation>& expectations);

} // namespace kernevo::sass
