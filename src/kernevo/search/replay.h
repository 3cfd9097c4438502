#pragma once

#include "kernevo/search/recorded_space.h"
#include "kernevo/search/search.h"

namespace kernevo::search {

struct ReplayResult {
  // After each evaluation: the optimum's time over the best time so far; 0 before any success.
  std::vector<double> fraction;
  std::vector<Configuration> order; // what was evaluated
};

// Runs a search on recorded times. A configuration that failed costs an evaluation like any other.
// `ahead` configurations are chosen before the first of them is known, as builds in parallel do.
Result<ReplayResult> replay(const RecordedSpace& recorded, const SearchOptions& options,
                            std::size_t evaluations, std::size_t ahead = 1);

} // namespace kernevo::search
